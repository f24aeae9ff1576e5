package xa

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// Recovery ends transactions whose seqgate did not: those that some shard has
// prepared for longer than any commit takes. Each seqgate does it for all.

const (
	// pause is between two looks for prepared transactions.
	pause = 5 * time.Second
	// defaultGrace is how long a transaction is left to its own seqgate from when it
	// was first seen: twice what it waits for the decision.
	defaultGrace = 2 * timeout
	// rollbacksKept is how long the decision to roll back stands, so that a seqgate that
	// was frozen meanwhile cannot decide otherwise.
	rollbacksKept = 7 * 24 * time.Hour
)

// recovery is what one seqgate knows of prepared transactions.
type recovery struct {
	*Decisions
	keyspaces map[string]*catalog.Keyspace
	log       *slog.Logger
	seen      map[string]time.Time // when a transaction was first seen prepared
	grace     time.Duration
}

// prepared is a part of a transaction that a shard has prepared.
type prepared struct {
	name  string
	shard *catalog.Keyspace
}

// Recover ends the transactions that keyspaces have prepared for longer than grace, 0 for the usual one, until ctx ends.
func (d *Decisions) Recover(ctx context.Context, keyspaces map[string]*catalog.Keyspace, grace time.Duration, log *slog.Logger) {
	r := recovery{Decisions: d, keyspaces: keyspaces, log: log, seen: make(map[string]time.Time), grace: cmp.Or(grace, defaultGrace)}
	for {
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			log.Warn("prepared transactions not all seen to", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pause, r.grace)):
		}
	}
}

// pass looks at all shards once. Decisions are read before: none of those can
// become prepared on another shard after.
func (r *recovery) pass(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pause+timeout)
	defer cancel()
	decided, err := r.committed(ctx)
	if err != nil {
		return err
	}
	parts, err := r.parts(ctx)
	errs := []error{err}
	now := time.Now()
	open := make(map[string]bool)
	for _, p := range parts {
		open[p.name] = true
		first, known := r.seen[p.name]
		if !known {
			r.seen[p.name], first = now, now
		}
		if now.Sub(first) >= r.grace {
			errs = append(errs, r.end(ctx, p))
		}
	}
	for name := range r.seen {
		if !open[name] {
			delete(r.seen, name)
		}
	}
	if err == nil { // every shard was asked
		for _, name := range decided {
			if !open[name] {
				errs = append(errs, r.Forget(ctx, name))
			}
		}
	}
	return errors.Join(errs...)
}

// committed returns the transactions that are decided to be committed, and drops
// decisions that are too old for anybody.
func (r *recovery) committed(ctx context.Context) ([]string, error) {
	rows, err := r.at.DB.QueryContext(ctx, "SELECT name FROM "+r.table()+" WHERE decision = 'commit'")
	if number, _, ok := sequence.ServerError(err); ok && number == mysql.ER_NO_SUCH_TABLE {
		return nil, nil // none was decided yet
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.table(), err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	_, err = r.at.DB.ExecContext(ctx, "DELETE FROM "+r.table()+" WHERE decision = 'rollback' AND decided < NOW() - INTERVAL ? SECOND",
		int(rollbacksKept.Seconds()))
	return names, err
}

// parts returns what the shards have prepared. With an error it is what could be asked.
func (r *recovery) parts(ctx context.Context) (parts []prepared, err error) {
	var errs []error
	for _, k := range r.keyspaces {
		for _, shard := range k.EachShard() {
			names, err := r.preparedOn(ctx, shard)
			if err != nil {
				errs = append(errs, fmt.Errorf("XA RECOVER on %s: %w", shard, err))
			}
			for _, name := range names {
				parts = append(parts, prepared{name, shard})
			}
		}
	}
	return parts, errors.Join(errs...)
}

// preparedOn returns the transactions of this table that a shard has prepared.
func (d *Decisions) preparedOn(ctx context.Context, k *catalog.Keyspace) ([]string, error) {
	rows, err := k.DB.QueryContext(ctx, "XA RECOVER")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var format, length, branchLength int
		var data sql.RawBytes
		if err := rows.Scan(&format, &length, &branchLength, &data); err != nil {
			return nil, err
		}
		if format != formatID || length > len(data) || string(data[length:]) != branch(k) {
			continue
		}
		if name := string(data[:length]); strings.HasPrefix(name, d.own) && backend.IsPlainName(name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}

// end ends one part as its transaction was decided; one without a decision is
// rolled back.
func (r *recovery) end(ctx context.Context, p prepared) error {
	decision, err := r.Decide(ctx, p.name, Rollback)
	if err != nil {
		return err
	}
	verb := "XA ROLLBACK "
	if decision == Commit {
		verb = "XA COMMIT "
	}
	_, err = p.shard.DB.ExecContext(ctx, verb+ID(p.name, p.shard))
	if number, _, ok := sequence.ServerError(err); ok && number == mysql.ER_XAER_NOTA {
		return nil // another one was faster
	}
	if err != nil {
		return fmt.Errorf("%s of transaction %s on %s: %w", strings.TrimSpace(verb), p.name, p.shard, err)
	}
	r.log.Warn("a transaction whose seqgate did not end it was ended", "transaction", p.name, "shard", p.shard.String(), "decision", decision)
	return nil
}
