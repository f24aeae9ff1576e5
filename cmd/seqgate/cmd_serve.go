package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	from := source{anyDatabase: true}
	var listen string
	cmd := &cobra.Command{
		Use: "serve --config FILE | --upstream DSN [--listen ADDR]", Short: "Run the proxy", Long: "Runs the proxy.", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := from.load()
			if err != nil {
				return err
			}
			if listen != "" {
				if err := cfg.SetListen(listen); err != nil {
					return err
				}
			}
			reload := make(chan os.Signal, 1)
			signal.Notify(reload, syscall.SIGHUP)
			defer signal.Stop(reload)
			return app.Serve(cmd.Context(), cfg, reload, cmd.ErrOrStderr(), func(string) {})
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDR` to listen on, host:port or unix:/path; wins over the file")
	return cmd
}
