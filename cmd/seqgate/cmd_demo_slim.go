//go:build slim

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newDemo says that this build has no engine.
func newDemo() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Not in this build, which has no engine", Long: "This build has no engine for the demo.", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("this is a slim build, without the demo's engine; build without the tag 'slim', or use a server of yours: seqgate serve --upstream DSN")
		},
	}
}
