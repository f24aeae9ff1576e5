package keyed

// counters holds the next value of each key of a section. Keys are known by their hash. When there are too many one is
// forgotten, and goes on later from the floor, as every key that was not used yet does.
type counters struct {
	values map[uint64]int64
	floor  int64
	max    int // keys
}

func (c *counters) next(hash uint64) int64 { return max(c.values[hash], c.floor) }

func (c *counters) set(hash uint64, next int64) {
	if c.values == nil {
		c.values = map[uint64]int64{}
	}
	before := len(c.values)
	c.values[hash] = next
	if len(c.values) > before && before >= c.max {
		c.evict(hash)
	}
}

// evict forgets any key but keep.
func (c *counters) evict(keep uint64) {
	for hash, next := range c.values { // begins anywhere: no key is forgotten again and again
		if hash != keep {
			c.floor = max(c.floor, next)
			delete(c.values, hash)
			return
		}
	}
}

// clear forgets all keys: they go on from floor.
func (c *counters) clear(floor int64) {
	c.values, c.floor = nil, floor
}

// raise lets no key go on below floor.
func (c *counters) raise(floor int64) { c.floor = max(c.floor, floor) }
