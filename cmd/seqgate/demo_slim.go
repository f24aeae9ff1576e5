//go:build slim

package main

import (
	"context"
	"errors"
	"io"
)

// runDemo says that this build has no engine.
func runDemo(_ context.Context, args []string, stdout, _ io.Writer) error {
	if err := parseOnly(newFlags("demo", "", "This build has no engine for the demo.", stdout), args); err != nil {
		return err
	}
	return errors.New("this is a slim build, without the demo's engine; build without the tag 'slim', or use a server of yours: seqgate serve --upstream DSN")
}
