package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// reloadedConfig is the configuration of a running seqgate: its file is read again when that is asked for.
type reloadedConfig struct {
	log       *slog.Logger
	level     *slog.LevelVar
	server    *proxy.Server
	sequences *sequence.Registry
	api       *apiServer
	peers     *peers
	files     []reloader // what the configuration names, and is read again when it changes

	loaded, failed atomic.Int64

	mu      sync.Mutex
	cfg     *config.Config // in force, but for what needs a restart
	running config.Given   // what is in force
}

func (f *reloadedConfig) config() *config.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cfg
}

// counts returns how often the configuration was read again.
func (f *reloadedConfig) counts() admin.Reloads {
	return admin.Reloads{OK: f.loaded.Load(), Failed: f.failed.Load()}
}

// reload takes over what has changed in the files that the configuration names; asked: in itself, too.
func (f *reloadedConfig) reload(asked bool) {
	if asked {
		_, _ = f.reloadAll() // it was logged
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reloadFiles(false)
}

// reloadFiles is reload for those files. f.mu is held.
func (f *reloadedConfig) reloadFiles(asked bool) {
	for _, r := range f.files {
		r.reload(asked)
	}
}

// reloadAll reads the configuration again, and what it names. A wrong one changes nothing; the files that it names
// count by themselves. The error is that of the configuration.
func (f *reloadedConfig) reloadAll() (admin.ReloadReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.reloadFiles(true)
	report := admin.ReloadReport{Reloaded: []string{}, NeedsRestart: []string{}} // lists in JSON, also when they are empty
	if f.cfg.File == "" {
		return report, nil // flags alone
	}
	cfg, err := Loader(os.Getenv).Load(f.cfg.File)
	if err == nil {
		err = f.apply(cfg)
	}
	if err != nil {
		f.failed.Add(1)
		f.log.Error("configuration not loaded, the old one stays", "err", err)
		return admin.ReloadReport{}, placesOf(err)
	}
	f.cfg = cfg
	f.running, report.Reloaded, report.NeedsRestart = f.running.Reload(cfg.Given)
	f.loaded.Add(1)
	f.log.Info("configuration loaded", "reloaded", report.Reloaded, "needs_restart", report.NeedsRestart)
	return report, nil
}

// apply has the reloadable settings count. f.mu is held.
func (f *reloadedConfig) apply(cfg *config.Config) error {
	err := f.server.Change(proxy.Settings{
		Users: proxyUsers(cfg.Users), MaxConnections: cfg.Limits.Connections, MaxUserConnections: cfg.Limits.PerUser,
		HandshakeTimeout: cfg.Timeouts.Handshake, IdleTimeout: cfg.Timeouts.Idle, ReadTimeout: cfg.Timeouts.Read, WriteTimeout: cfg.Timeouts.Write,
		SlowStatement: cfg.Log.Slow, Quiet: min(cfg.LameduckPeriod, quiet), MaxValues: cfg.Sequences.MaxN, PauseTimeout: cfg.Timeouts.Pause, StatementShapes: cfg.StatementShapes,
	})
	if err != nil {
		return fmt.Errorf("users: %w: restart it", err)
	}
	f.peers.changeUsers(cfg.Users)
	f.sequences.Configure(SequenceConfig(cfg, nil, f.log))
	f.api.setTokens(cfg.API.Tokens)
	f.level.Set(cfg.Log.Level)
	return nil
}

// placesOf returns the places of errors alone. What is wrong there stands in the log, which fewer may read: a value in the
// place of another may be a secret.
func placesOf(err error) error {
	var all vschema.Errors
	if !errors.As(err, &all) {
		return err // a file that cannot be read, or what does not fit together
	}
	places := make(vschema.Errors, len(all))
	for i, e := range all {
		places[i] = e
		places[i].Message = "is wrong; seqgate's log says why"
	}
	return places
}
