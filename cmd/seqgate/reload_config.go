package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gopkg.in/yaml.v3"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// reloadable are the keys of the configuration that count without a restart, after a reload.
var reloadable = map[string]bool{
	"users": true, "limits.connections": true, "limits.per_user": true,
	"timeouts.handshake": true, "timeouts.idle": true, "timeouts.read": true, "timeouts.write": true,
	"sequences.min_lifetime": true, "sequences.max_step": true, "sequences.max_n": true, "sequences.prefetch": true, "sequences.timeout": true,
	"lameduck_period": true, "drain_timeout": true, "log.level": true, "log.slow": true,
	"api.tokens": true,
}

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
	cfg     *Config           // in force, but for what needs a restart
	running map[string]string // what each key was given that is in force; nil before the first reload
}

func (f *reloadedConfig) config() *Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cfg
}

// counts gives how often the configuration was read again.
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
	if f.cfg.file == "" {
		return changes(nil, nil), nil // flags alone
	}
	cfg, err := LoadConfig(f.cfg.file, os.Getenv)
	if err == nil {
		err = f.apply(cfg)
	}
	if err != nil {
		f.failed.Add(1)
		f.log.Error("configuration not loaded, the old one stays", "err", err)
		return admin.ReloadReport{}, placesOf(err)
	}
	if f.running == nil {
		f.running = f.cfg.given
	}
	report := changes(f.running, cfg.given)
	f.cfg, f.running = cfg, inForce(f.running, cfg.given)
	f.loaded.Add(1)
	f.log.Info("configuration loaded", "reloaded", report.Reloaded, "needs_restart", report.NeedsRestart)
	return report, nil
}

// apply has the reloadable settings count. f.mu is held.
func (f *reloadedConfig) apply(cfg *Config) error {
	err := f.server.Change(proxy.Settings{
		Users: proxyUsers(cfg.Users), MaxConnections: cfg.Limits.Connections, MaxUserConnections: cfg.Limits.PerUser,
		HandshakeTimeout: cfg.Timeouts.Handshake, IdleTimeout: cfg.Timeouts.Idle, ReadTimeout: cfg.Timeouts.Read, WriteTimeout: cfg.Timeouts.Write,
		SlowStatement: cfg.Log.Slow, Quiet: min(cfg.LameduckPeriod, quiet), MaxValues: cfg.Sequences.MaxN,
	})
	if err != nil {
		return fmt.Errorf("users: %w: restart it", err)
	}
	f.peers.changeUsers(cfg.Users)
	f.sequences.Configure(sequenceConfig(cfg, nil, f.log))
	f.api.setTokens(cfg.API.Tokens)
	f.level.Set(cfg.Log.Level)
	return nil
}

// changes gives the keys that differ from those in force, by whether they count now.
func changes(running, now map[string]string) admin.ReloadReport {
	report := admin.ReloadReport{Reloaded: []string{}, NeedsRestart: []string{}} // lists in JSON, also when they are empty
	all := maps.Clone(running)
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		old, had := running[key]
		text, has := now[key]
		switch {
		case had == has && old == text:
		case reloadable[key]:
			report.Reloaded = append(report.Reloaded, key)
		default:
			report.NeedsRestart = append(report.NeedsRestart, key)
		}
	}
	return report
}

// inForce gives what keys have after a reload: those that need a restart have what they had.
func inForce(running, now map[string]string) map[string]string {
	all := map[string]string{}
	for key, text := range now {
		if reloadable[key] {
			all[key] = text
		}
	}
	for key, text := range running {
		if !reloadable[key] {
			all[key] = text
		}
	}
	return all
}

// placesOf gives the places of errors alone. What is wrong there stands in the log, which fewer may read: a value in the
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

// given gives what each key was given, as YAML, and behind it the hashes of the files that it names.
func (r *configReader) given() map[string]string {
	given := make(map[string]string, len(r.set))
	for key, v := range r.set {
		text, err := yaml.Marshal(v.node)
		if err != nil {
			text = []byte(v.node.Value) // an alias of YAML's; its value is what counts
		}
		given[key] = string(text)
	}
	for _, f := range r.read {
		for key := range r.set {
			if rest, ok := strings.CutPrefix(f.path, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				given[key] += fmt.Sprintf("# %s: %x\n", f.path, f.hash)
			}
		}
	}
	return given
}
