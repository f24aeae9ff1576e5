package sequence

// maxDropped bounds how many dropped sequences a [Registry] remembers one by one.
const maxDropped = 10_000

// dropped remembers sequences that were dropped and not made again since. When there are too many it counts all as
// dropped that it does not know.
type dropped struct {
	given    map[Name]int64 // the largest id that this process reserved of each
	overflow bool           // others were dropped too
	largest  int64          // of the ids of those others
}

func (d *dropped) add(name Name, given int64) {
	if d.given == nil {
		d.given = make(map[Name]int64)
	}
	if _, known := d.given[name]; !known && len(d.given) >= maxDropped {
		d.overflow = true
		for _, id := range d.given {
			d.largest = max(d.largest, id)
		}
		clear(d.given)
	}
	d.given[name] = max(d.given[name], given)
}

// of returns the largest id of a sequence that was dropped.
func (d *dropped) of(name Name) (given int64, ok bool) {
	if given, ok = d.given[name]; ok {
		return given, true
	}
	return d.largest, d.overflow
}

// Drop ends the sequence of that name, whether it was used or not, as [Registry.Forget] does: its table was dropped. The
// registry remembers that until Forget tells that it was made anew.
func (r *Registry) Drop(name Name) {
	r.mu.Lock()
	r.dropped.add(name, 0)
	r.mu.Unlock()
	former := r.end(name)
	if former == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped.add(name, former.given.Load())
}

// Dropped reports whether [Registry.Drop] ended the sequence, and nothing was heard of a new one since. After 10,000 names it
// may say so of any other that was not used since.
func (r *Registry) Dropped(name Name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.dropped.of(name)
	return ok
}

// Given returns the largest id that this process ever reserved of the sequence of that name, also of one that was dropped
// since; 0 for none.
func (r *Registry) Given(name Name) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	given, _ := r.dropped.of(name)
	if s := (*r.sequences.Load())[name]; s != nil {
		given = max(given, s.given.Load())
	}
	return given
}

// Discard ends the sequence of that name if it never gave an id: what has that name is none. The next [Registry.Get] opens it
// anew. What is known of drops stays.
func (r *Registry) Discard(name Name) {
	if s := (*r.sequences.Load())[name]; s != nil && s.given.Load() == 0 {
		if former := r.end(name); former != nil && former.given.Load() > 0 { // an attempt was under way
			r.mu.Lock()
			defer r.mu.Unlock()
			r.dropped.add(name, former.given.Load())
		}
	}
}
