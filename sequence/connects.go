package sequence

import (
	"context"
	"database/sql/driver"
	"sync"
	"time"
)

// How many connections a pool makes at once, and how often one after these. It has poolSize of them, so more than some a
// second are only needed where a server ends them all the time, and where each would leave a socket in TIME_WAIT.
const (
	connectsAtOnce = 4 * poolSize
	connectEvery   = 50 * time.Millisecond
)

// paced makes connections no faster than that, for whoever asks: those in [turns] ask seldom, but stripes and keyed
// sequences do not wait in that line.
type paced struct {
	driver.Connector

	mu   sync.Mutex
	free time.Time // when the pool had made none for so long that connectsAtOnce are free
}

// Connect implements [driver.Connector].
func (p *paced) Connect(ctx context.Context) (driver.Conn, error) {
	timer := time.NewTimer(p.next(time.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return p.Connector.Connect(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next returns how long to wait before the next connection.
func (p *paced) next(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(connectEvery)
	return p.free.Sub(now) - connectsAtOnce*connectEvery
}
