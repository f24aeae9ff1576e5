package generators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// openLeaser opens where the worker ids of sets are kept; end ends what it opened.
type openLeaser func(cfg config.WorkerStore) (leaser func(generate.WorkerIDs) (worker.Leaser, error), end func() error, err error)

// LeaserKinds are the stores of worker ids that this build has beside the table, by their names in the configuration.
var LeaserKinds = map[string]openLeaser{}

// Open returns what makes ids without a sequence; end ends the connections of its worker ids, after its Close.
func Open(cfg *config.Config, log *slog.Logger) (set *generate.Set, end func() error, err error) {
	lease := leaseConfig(cfg.WorkerIDs)
	lease.Address, lease.Logger = cfg.Advertise, log
	lease.Generator = snowflake.Config{Timeout: cfg.Sequences.Timeout}
	workers, end, err := openWorkers(cfg, lease)
	if err != nil {
		return nil, nil, err
	}
	return generate.New(generate.Config{Workers: workers, Dir: cfg.WorkerIDs.Dir, Lease: lease}), end, nil
}

// leaseConfig is how worker ids are leased.
func leaseConfig(w config.WorkerIDs) worker.Config {
	return worker.Config{Least: w.Least, Lease: w.Lease, Quarantine: cmp.Or(w.Quarantine, -1), MaxSkew: w.MaxSkew} // there 0 is the default
}

// openWorkers prepares the connections to where worker ids are kept; nil when there is no such place.
func openWorkers(cfg *config.Config, lease worker.Config) (workers *generate.Workers, end func() error, err error) {
	w := cfg.WorkerIDs
	none := func() error { return nil }
	switch {
	case w.Static != nil:
		return generate.StaticWorkers(*w.Static, w.Dir, lease), none, nil
	case w.Store != config.TableStore:
		leaser, end, err := LeaserKinds[w.Store](w.WorkerStore)
		if err != nil {
			return nil, nil, fmt.Errorf("worker ids in %s: %w", w.Store, err)
		}
		return &generate.Workers{From: w.Store, Leaser: leaser, Lease: lease}, end, nil
	}
	k, ok := cfg.WorkerKeyspace()
	if !ok {
		return nil, none, nil
	}
	dsn := k.Shards[0].DSN
	pool, err := sequence.NewPool(dsn) // of its own: a lease does not wait for refills
	if err != nil {
		return nil, nil, err
	}
	pool.SetMaxOpenConns(2)
	return &generate.Workers{
		From: "table " + k.Name + "." + worker.TableName, Lease: lease,
		Leaser: func(ids generate.WorkerIDs) (worker.Leaser, error) {
			return worker.NewTable(pool, dsn.DBName, ids.Set, ids.Last, worker.TableConfig{AnyServer: w.AnyServer, Rivals: ids.Rivals}), nil
		},
	}, pool.Close, nil
}

// leaseWait bounds the wait for worker ids at the start: a database that is away then may be there later.
const leaseWait = 2 * time.Second

// Use begins to lease the worker ids of the vschema's generators. It returns an error when this host's clock
// differs too much from others': that is to be set right first. What else is wrong may pass, and ids are given when it has.
func Use(ctx context.Context, set *generate.Set, v *vschema.VSchema, log *slog.Logger) error {
	if err := set.Use(v); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	err := set.Ready(ctx)
	if errors.Is(err, worker.ErrClock) {
		return err
	}
	if err != nil {
		log.Error("generators have no worker ids yet; seqgate goes on trying", "err", err)
	}
	return nil
}

// closeTimeout bounds how long leases are ended for.
const closeTimeout = 2 * time.Second

// Close ends the leases of worker ids, so that others can have them sooner.
func Close(ctx context.Context, set *generate.Set, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := set.Close(ctx); err != nil {
		log.Warn("leases of worker ids not ended; they end by themselves", "err", err)
	}
}
