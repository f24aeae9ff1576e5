package catalog

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// IncrementVariable is the distance between the ids of one statement.
const IncrementVariable = "auto_increment_increment"

// increments are the servers' own settings of the distance, as sessions get them that do
// not set it.
type increments struct {
	mu    sync.Mutex
	known map[*Keyspace]knownIncrement
}

type knownIncrement struct {
	value int64
	asked time.Time
}

// of returns the distance on a keyspace's server, at most a second old.
func (i *increments) of(ctx context.Context, k *Keyspace) (int64, error) {
	i.mu.Lock()
	known, ok := i.known[k]
	i.mu.Unlock()
	if ok && time.Since(known.asked) < Fresh {
		return known.value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	asked := time.Now()
	var n int64
	if err := k.DB.QueryRowContext(ctx, "SELECT @@global."+IncrementVariable).Scan(&n); err != nil {
		if ok {
			return known.value, nil // the server is away: its settings hold as long
		}
		if sequence.IsTemporary(err) {
			err = fmt.Errorf("%w: %w", sequence.ErrUnavailable, err)
		}
		return 0, fmt.Errorf("ask the server for its %s: %w", IncrementVariable, err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil {
		i.known = make(map[*Keyspace]knownIncrement)
	}
	i.known[k] = knownIncrement{n, asked}
	return n, nil
}

// Increment returns how far apart the ids of one statement lie on a keyspace's server, by its own setting.
func (c *Cache) Increment(ctx context.Context, k *Keyspace) (int64, error) {
	return c.increments.of(ctx, k)
}
