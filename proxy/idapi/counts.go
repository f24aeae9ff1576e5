package idapi

import (
	"cmp"
	"slices"
	"sync"
)

// Count is what was answered to one token, for metrics.
type Count struct {
	Token  string // its name; "" where none was known
	Status int    // of HTTP
	N      int64  // requests
	IDs    int64  // that they were given
}

type counted struct {
	token  string
	status int
}

type usage struct{ requests, ids int64 }

// counters count the answers since the start.
type counters struct {
	mu  sync.Mutex
	all map[counted]usage
}

func (c *counters) answered(who *client, status int) { c.add(who, status, 0) }

func (c *counters) add(who *client, status int, ids int64) {
	key := counted{status: status}
	if who != nil {
		key.token = who.Name
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[counted]usage)
	}
	t := c.all[key]
	c.all[key] = usage{t.requests + 1, t.ids + ids}
}

// Counts returns what was answered since the start, by token and status.
func (h *Handler) Counts() []Count {
	h.counts.mu.Lock()
	defer h.counts.mu.Unlock()
	var all []Count
	for key, t := range h.counts.all {
		all = append(all, Count{key.token, key.status, t.requests, t.ids})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Status, b.Status)) })
	return all
}
