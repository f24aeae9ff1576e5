package main

import (
	"context"
	"errors"
	"os"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/pflag"
)

// source is where a command has its configuration from: a file, or the DSN of one server.
type source struct {
	file, upstream string
	anyDatabase    bool // the DSN need not name one: the command serves all of the server
}

func (s *source) flags(fs *pflag.FlagSet) {
	fs.StringVar(&s.file, "config", "", "the configuration `FILE` (or SEQGATE_CONFIG)")
	fs.StringVar(&s.upstream, "upstream", "", "the `DSN` of one unsharded server instead of a file: user:password@tcp(host:port)/database")
}

// load reads the configuration. SEQGATE_CONFIG names the file when no flag does.
func (s *source) load() (*config.Config, error) {
	env := config.Environment{}
	if file := env.Get("SEQGATE_CONFIG"); s.file == "" && s.upstream == "" {
		s.file = file
	}
	cfg, err := s.read(app.Loader(env.Get))
	if err != nil {
		return nil, err
	}
	if err := env.Unknown(os.Environ(), cfg.VSchema); err != nil {
		return nil, err
	}
	return cfg, nil
}

func (s *source) read(l config.Loader) (*config.Config, error) {
	switch {
	case s.file != "" && s.upstream != "":
		return nil, ops.Usagef("--config and --upstream together: give one")
	case s.upstream != "" && s.anyDatabase:
		return l.UpstreamServer(s.upstream)
	case s.upstream != "":
		return l.Upstream(s.upstream)
	case s.file != "":
		return l.Load(s.file)
	}
	return nil, ops.Usagef("no configuration: give --config FILE or --upstream DSN")
}

// withCluster has the servers of the configuration for the time of a call.
func (s *source) withCluster(ctx context.Context, do func(*ops.Cluster) error) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	c := ops.NewCluster(ctx, cfg)
	return errors.Join(do(c), c.Close())
}
