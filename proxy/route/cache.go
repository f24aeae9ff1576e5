package route

import (
	"maps"
	"sync"

	"github.com/seqgate/seqgate/parser"
)

// maxCached is how many plans one generation of the cache holds, and maxKey how long the text of one may be.
const (
	maxCached = 4096
	maxKey    = 1024
)

// cache keeps plans by the text without its numbers and strings or, where these decide about more than the shards, by the
// whole text. It has two generations: when the young one is full the old one is dropped, and plans that are used get
// young again. So it is bounded, and needs no list.
type cache struct {
	mu    sync.RWMutex
	young map[string]*Plan
	old   map[string]*Plan
	size  int
	epoch uint64 // counts calls of clear
}

func newCache(size int) *cache {
	return &cache{young: map[string]*Plan{}, old: map[string]*Plan{}, size: size}
}

// keyRoom is room for a key and the literals of its text on the stack, ownRoom for the key of the whole text.
type (
	keyRoom struct {
		bytes    [maxKey]byte
		literals [16]parser.Literal
	}
	ownRoom [maxKey]byte
)

// cacheKey is what a plan is kept under, nil bytes for a text that has no plan there.
type cacheKey struct {
	bytes    []byte
	literals []parser.Literal
}

// A key begins with one of these, so that those of texts with and without literals differ.
const (
	keyFingerprint = iota
	keyText
)

// key returns the key of a text without its literals: two texts of one key that both can be read have the same plan but
// for the values of literals.
func (c *cache) key(room *keyRoom, sql []byte, keyspace string, m parser.Mode) cacheKey {
	if keySize(sql, keyspace) > maxKey {
		return cacheKey{}
	}
	begin := appendSession(append(room.bytes[:0], keyFingerprint), keyspace, m)
	bytes, literals, ok := parser.Fingerprint(begin, sql, m, room.literals[:0])
	if !ok {
		return cacheKey{}
	}
	return cacheKey{bytes, literals}
}

// ownKey returns the key of exactly the text, nil for one that is too long.
func (c *cache) ownKey(room *ownRoom, sql []byte, keyspace string, m parser.Mode) []byte {
	if keySize(sql, keyspace) > maxKey {
		return nil
	}
	return append(appendSession(append(room[:0], keyText), keyspace, m), sql...)
}

// keySize is more than the size of either key, but for marks of many literals, which a key grows by.
func keySize(sql []byte, keyspace string) int { return len(sql) + len(keyspace) + 8 }

// appendSession appends what of the session decides how a text reads and which tables it means.
func appendSession(dst []byte, keyspace string, m parser.Mode) []byte {
	dst = append(dst, keyspace...)
	return append(dst, 0, byte(m.Charset), bit(m.ANSIQuotes)|bit(m.NoBackslashEscapes)<<1|bit(m.Brackets)<<2|bit(m.MariaDB)<<3|
		bit(m.EmptyStringIsNull)<<4)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// get returns the plan under the key, nil when there is none.
func (c *cache) get(key []byte) *Plan {
	if key == nil {
		return nil
	}
	c.mu.RLock()
	plan, young := c.young[string(key)]
	if !young {
		plan = c.old[string(key)]
	}
	epoch := c.epoch
	c.mu.RUnlock()
	if plan != nil && !young {
		c.put(epoch, key, plan)
	}
	return plan
}

// put keeps the plan under the key, if that is one, and if no plans were dropped since now gave epoch.
func (c *cache) put(epoch uint64, key []byte, plan *Plan) {
	if key == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return
	}
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[string]*Plan, c.size)
	}
	c.young[string(key)] = plan
}

// clear drops all plans.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old = map[string]*Plan{}, map[string]*Plan{}
	c.epoch++
}

// drop forgets some plans.
func (c *cache) drop(which func(*Plan) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, plans := range []map[string]*Plan{c.young, c.old} {
		maps.DeleteFunc(plans, func(_ string, plan *Plan) bool { return which(plan) })
	}
	c.epoch++
}

// now returns the epoch for put.
func (c *cache) now() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.epoch
}

// anyText reports whether the plan is that of every text that differs in the values of numbers and strings only, when
// these bind their columns too: it depends on no place in the text.
func (p *Plan) anyText() bool { return len(p.edits) == 0 && p.Scatter == nil && !p.ownText }

// cachedValues is how many values of literals a plan holds without a slice of its own.
const cachedValues = 2

// withValues returns the plan with the values of another text of the same key, in the room if there is one; nil when one
// of them does not bind its column.
func (p *Plan) withValues(room *Room, literals []parser.Literal, sql []byte, m parser.Mode) *Plan {
	if len(p.slots) == 0 {
		return p
	}
	if room == nil {
		room = new(Room)
	}
	copied := &room.plan
	*copied = *p
	copied.values = room.values[:0]
	for _, s := range p.slots {
		v, ok := literalValue(literals[s.index], s.negative, sql, m)
		if !ok {
			return nil
		}
		copied.values = append(copied.values, v)
	}
	if !copied.exact() {
		return nil
	}
	return copied
}

// exact reports whether all values bind their columns.
func (p *Plan) exact() bool {
	for i := range p.bindings {
		b := &p.bindings[i]
		for _, row := range b.rows {
			for column, s := range row {
				if s.kind != slotValue {
					continue
				}
				if _, ok := b.classes[column].exact(p.values[s.index]); !ok {
					return false
				}
			}
		}
	}
	return true
}
