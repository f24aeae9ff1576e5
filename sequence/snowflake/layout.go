package snowflake

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// The fields of a [Layout]. Each has its bits in every id.
const (
	Time     = "time"     // ticks since the epoch; a tick is one Layout.Unit
	Zone     = "zone"     // data center, zone or the like; a layout may be without
	Worker   = "worker"   // the worker id
	Sequence = "sequence" // counts the ids of one worker in one tick
)

// Field is a field of a [Layout] and its width in bits. In a table of fields the zero Field stands for none.
type Field struct {
	Name string
	Bits int
}

// Layout says how the bits of an id are made of time, zone, worker id and sequence. It is plain data: take one of the
// [Presets], or fill in one's own and see it through [Layout.Validate].
type Layout struct {
	Name   string        // what messages call it
	Epoch  int64         // when the ticks begin, in Unix milliseconds
	Unit   time.Duration // the length of a tick, 1 microsecond to 1 minute
	Fields [4]Field      // from the highest bit to the lowest; 63 bits in all, or 53
	Start  Start         // the sequence of the first id in a tick
}

// Start says with which sequence a tick begins at a low rate. A start at 0 each time would make nearly all ids even, and
// whoever spreads rows by id % n would find them in one place (Meituan-Dianping/Leaf issue 52).
type Start struct {
	Random bool  // at random below Bound; else the sequence goes on from where the last tick ended, modulo Bound
	Bound  int64 // 2 to the number of sequences; 0: a quarter of them. A tick loses the sequences below its start.
}

// Widths of an id, without the sign bit. Ids of 53 bits are exact in JavaScript (Number.MAX_SAFE_INTEGER is 2^53-1).
const (
	fullBits = 63
	jsBits   = 53
)

// shortLife is the remaining life of a layout under which [Layout.Warning] warns.
const shortLife = 2 * 365 * 24 * time.Hour

// ErrLayout: a layout that no ids can be made by.
var ErrLayout = errors.New("invalid snowflake layout")

// Validate checks what does not depend on the present time. Its errors match [ErrLayout].
func (l Layout) Validate() error {
	if err := l.validateFields(); err != nil {
		return err
	}
	switch size := l.sequences(); {
	case l.Epoch < 0:
		return l.invalid("the epoch is before 1970")
	case l.Unit < time.Microsecond || l.Unit > time.Minute:
		return l.invalid("a unit of %v: take one from 1µs to 1m", l.Unit)
	case l.Unit > (math.MaxInt64-time.Hour)>>l.Bits(Time): // an hour, so that what is a little past the end is no overflow
		return l.invalid("%d bits of %v are over 292 years: give some of them to another field", l.Bits(Time), l.Unit)
	case l.Start.Bound < 0 || l.Start.Bound == 1 || l.Start.Bound > size:
		return l.invalid("a start bound of %d: take 2 to %d, or 0 for a quarter of that", l.Start.Bound, size)
	}
	return nil
}

func (l Layout) validateFields() error {
	sum := 0
	for i, f := range l.Fields {
		if f == (Field{}) {
			continue
		}
		switch {
		case !slices.Contains([]string{Time, Zone, Worker, Sequence}, f.Name):
			return l.invalid("field %q: there are time, zone, worker and sequence", f.Name)
		case f.Bits < 1 || f.Bits > fullBits:
			return l.invalid("%d bits for the %s: take at least 1", f.Bits, f.Name)
		case slices.ContainsFunc(l.Fields[:i], func(o Field) bool { return o.Name == f.Name }):
			return l.invalid("two fields %s", f.Name)
		}
		sum += f.Bits
	}
	for _, name := range []string{Time, Worker, Sequence} {
		if l.Bits(name) == 0 {
			return l.invalid("it has no field %s", name)
		}
	}
	switch {
	case l.Fields[0].Name != Time:
		return l.invalid("the time is not its first field: ids would not increase")
	case sum != fullBits && sum != jsBits:
		return l.invalid("its fields have %d bits, want %d, or %d for ids that JavaScript can hold", sum, fullBits, jsBits)
	}
	return nil
}

func (l Layout) invalid(format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrLayout, l.Name, fmt.Sprintf(format, args...))
}

// Check is [Layout.Validate] and whether ids can be made at now: an epoch in the future matches [ErrLayout], time bits
// that are used up match [sequence.ErrExhausted].
func (l Layout) Check(now time.Time) error {
	if err := l.Validate(); err != nil {
		return err
	}
	switch {
	case now.Before(l.epoch()):
		return l.invalid("its epoch, %s, is in the future", stamp(l.epoch()))
	case !now.Before(l.Ends()):
		return fmt.Errorf("%w: the %d time bits of layout %q ended at %s; take a later epoch with worker ids that were never used, or more time bits",
			sequence.ErrExhausted, l.Bits(Time), l.Name, stamp(l.Ends()))
	}
	return nil
}

// Ends returns the first moment that the time bits of the layout, which must be valid, cannot hold.
func (l Layout) Ends() time.Time {
	return l.epoch().Add(l.Unit << l.Bits(Time))
}

// Warning returns what an operator should know about a layout that ends within 2 years of now; "" when it lasts longer.
func (l Layout) Warning(now time.Time) string {
	left := l.Ends().Sub(now)
	if left >= shortLife {
		return ""
	}
	return fmt.Sprintf("layout %q gives its last id at %s, in %d days: plan the move to another one",
		l.Name, stamp(l.Ends()), max(left, 0)/(24*time.Hour))
}

// Bits returns the width of a field, 0 for one that the layout does not have.
func (l Layout) Bits(field string) int {
	_, bits := l.place(field)
	return bits
}

// Max returns the largest value of a field; 0 for one that the layout does not have.
func (l Layout) Max(field string) int64 { return 1<<l.Bits(field) - 1 }

// HashZone turns the name of a zone into a number for the zone field (FNV-1a, folded to its bits). Two names can have the
// same number: worker ids must then differ, as those from one table for all zones do.
func (l Layout) HashZone(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails: hash.Hash
	sum := h.Sum64()
	return int64(sum^sum>>32) & l.Max(Zone)
}

// place returns the lowest bit of a field and its width, 0 and 0 for one that the layout does not have.
func (l Layout) place(field string) (shift, bits int) {
	for _, f := range slices.Backward(l.Fields[:]) {
		if f.Name == field {
			return shift, f.Bits
		}
		shift += f.Bits
	}
	return 0, 0
}

// sequences returns how many ids a worker has in a tick.
func (l Layout) sequences() int64 { return l.Max(Sequence) + 1 }

// startBound returns the bound of starts in use.
func (l Layout) startBound() int64 {
	if l.Start.Bound > 0 {
		return l.Start.Bound
	}
	return max(2, l.sequences()/4)
}

func (l Layout) epoch() time.Time { return time.UnixMilli(l.Epoch).UTC() }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
