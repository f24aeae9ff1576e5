package main

import (
	"fmt"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Long: "Prints the version.", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "seqgate", app.Version())
			return err
		},
	}
}
