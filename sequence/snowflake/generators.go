package snowflake

import "sync"

// Generators holds the generators of one process, one for each set of ids. The zero value is empty and ready.
type Generators struct {
	mu  sync.Mutex
	all map[codec]*Generator
}

// Get returns the generator of a worker, made by [New] if there is none that gives the same ids. Of cfg one that is there
// takes Limit, and After if that is set; the layout's start and the rest stay as they were first.
func (s *Generators) Get(l Layout, zone, worker int64, cfg Config) (*Generator, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := New(l, zone, worker, cfg)
	if err != nil {
		return nil, err
	}
	if old, ok := s.all[g.codec]; ok {
		old.startAfter(cfg.After)
		old.SetLimit(cfg.Limit)
		return old, nil
	}
	if s.all == nil {
		s.all = make(map[codec]*Generator)
	}
	s.all[g.codec] = g
	return g, nil
}
