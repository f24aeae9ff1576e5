package vschema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// Shards are the shards of one keyspace in the order of their key ranges, which hold every keyspace id exactly once.
type Shards struct {
	names  []string
	starts []KeyspaceID // of the shard with the same index
}

// NewShards takes the names of all shards of a keyspace, in any order. Its error joins one for each name that is no key
// range, and for each gap and overlap.
func NewShards(names []string) (*Shards, error) {
	type shard struct {
		name string
		KeyRange
	}
	var shards []shard
	var errs []error
	for _, name := range names {
		r, err := ParseKeyRange(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		shards = append(shards, shard{name, r})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(shards) == 0 {
		return nil, errors.New(`a keyspace without shards: write one, such as "-"`)
	}
	slices.SortFunc(shards, func(a, b shard) int { return a.Compare(b.KeyRange) })
	if first := shards[0]; len(first.Start) > 0 {
		errs = append(errs, fmt.Errorf("no shard holds the keyspace ids before %x: add the shard -%x", first.Start, first.Start))
	}
	for i := range shards[1:] {
		errs = append(errs, checkBorder(shards[i].name, shards[i+1].name, shards[i].End, shards[i+1].Start))
	}
	if last := shards[len(shards)-1]; len(last.End) > 0 {
		errs = append(errs, fmt.Errorf("no shard holds the keyspace ids from %x on: add the shard %x-", last.End, last.End))
	}
	s := &Shards{}
	for _, shard := range shards {
		s.names, s.starts = append(s.names, shard.name), append(s.starts, shard.Start)
	}
	return s, errors.Join(errs...)
}

// checkBorder tells whether a shard ends where the next one starts.
func checkBorder(a, b string, end, start KeyspaceID) error {
	switch {
	case len(end) == 0 || bytes.Compare(start, end) < 0:
		return fmt.Errorf("shards %s and %s overlap: let one end where the other starts", a, b)
	case !bytes.Equal(start, end):
		return fmt.Errorf("no shard holds the keyspace ids from %x up to %x, between %s and %s: add the shard %x-%x", end, start, a, b, end, start)
	}
	return nil
}

// evenShards divides all keyspace ids into parts of the same size, in the order of the names, which may be any.
func evenShards(names []string) *Shards {
	s := &Shards{names: names, starts: make([]KeyspaceID, len(names))}
	for i := range names {
		start, _ := bits.Div64(uint64(i), 0, uint64(len(names)))
		s.starts[i] = trimZeros(binary.BigEndian.AppendUint64(nil, start))
	}
	return s
}

// Len returns how many shards there are.
func (s *Shards) Len() int { return len(s.names) }

// Name returns the name of a shard by its index from 0, as it was given.
func (s *Shards) Name(i int) string { return s.names[i] }

// Find returns the index of the shard that holds the keyspace id.
func (s *Shards) Find(id KeyspaceID) int {
	// A start has no zero bytes at its end, so those of the id need not be cut off to compare the two.
	return sort.Search(len(s.starts)-1, func(i int) bool { return bytes.Compare(id, s.starts[i+1]) < 0 })
}

// Overlapping returns the indexes of the first and the last shard that hold ids of the range.
func (s *Shards) Overlapping(r KeyRange) (first, last int) {
	first = s.Find(r.Start)
	if len(r.End) == 0 {
		return first, len(s.starts) - 1
	}
	end := trimZeros(r.End)
	after := sort.Search(len(s.starts), func(i int) bool { return bytes.Compare(s.starts[i], end) >= 0 })
	return first, max(first, after-1)
}
