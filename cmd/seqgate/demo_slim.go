//go:build slim

package main

import (
	"context"
	"errors"
	"io"
)

// runDemo says that this build has no engine.
func runDemo(context.Context, []string, io.Writer, io.Writer) error {
	return errors.New("this is a slim build, without the demo's engine; build without the tag 'slim', or use a server of yours: seqgate serve --upstream DSN")
}
