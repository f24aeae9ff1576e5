package vschema

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

// KeyspaceID is the place of a row in its keyspace: bytes of any length that order as bytes do, where zero bytes at the
// end do not count (Vitess, go/vt/key).
type KeyspaceID []byte

// KeyRange is the keyspace ids from Start up to, but without, End. An empty Start is the first of all ids, an empty End
// is after the last. A KeyRange of ParseKeyRange has no zero bytes at the end of either.
type KeyRange struct {
	Start, End KeyspaceID
}

// ParseKeyRange reads the name of a shard: two hexadecimal numbers of whole bytes around a hyphen, either of which may
// be left out, such as -80, 80-, 40-80 or 0aff-0b00. All ids are "-", or "0" as unsharded keyspaces have it in Vitess.
func ParseKeyRange(name string) (KeyRange, error) {
	if name == "0" {
		return KeyRange{}, nil
	}
	first, second, ok := strings.Cut(name, "-")
	if !ok {
		return KeyRange{}, fmt.Errorf(`shard %q is no key range: write one such as "-80", "40-80" or "80-"`, name)
	}
	start, err := hex.DecodeString(first)
	if err != nil {
		return KeyRange{}, notHex(name, first)
	}
	end, err := hex.DecodeString(second)
	if err != nil {
		return KeyRange{}, notHex(name, second)
	}
	r := KeyRange{Start: trimZeros(start), End: trimZeros(end)}
	switch {
	case len(end) > 0 && len(r.End) == 0:
		return KeyRange{}, fmt.Errorf("shard %q is empty: no keyspace id is before %s", name, second)
	case len(r.End) > 0 && bytes.Compare(r.Start, r.End) >= 0:
		return KeyRange{}, fmt.Errorf("shard %q is empty: its end is not after its start", name)
	}
	return r, nil
}

func notHex(name, part string) error {
	return fmt.Errorf("shard %q: %q is not hexadecimal, with two digits for each byte", name, part)
}

// String returns the range as a shard is named, "-" for all ids.
func (r KeyRange) String() string {
	return hex.EncodeToString(r.Start) + "-" + hex.EncodeToString(r.End)
}

// Contains says whether the keyspace id is in the range.
func (r KeyRange) Contains(id KeyspaceID) bool {
	return compareIDs(id, r.Start) >= 0 && (len(r.End) == 0 || compareIDs(id, r.End) < 0)
}

// ContainsRange says whether all ids of other are in the range.
func (r KeyRange) ContainsRange(other KeyRange) bool {
	return compareIDs(r.Start, other.Start) <= 0 && compareEnds(r.End, other.End) >= 0
}

// Intersects says whether any id is in both ranges.
func (r KeyRange) Intersects(other KeyRange) bool {
	return startsBefore(r.Start, other.End) && startsBefore(other.Start, r.End)
}

// Compare orders ranges by their starts, then by their ends: it is negative when r is before other, 0 when they are the
// same ids.
func (r KeyRange) Compare(other KeyRange) int {
	if c := compareIDs(r.Start, other.Start); c != 0 {
		return c
	}
	return compareEnds(r.End, other.End)
}

// prefixRange is all ids that begin with the prefix. As Vitess does, it ends before the next id of the same length.
func prefixRange(prefix KeyspaceID) KeyRange {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return KeyRange{Start: prefix, End: end[:i+1]}
		}
	}
	return KeyRange{Start: prefix}
}

func compareIDs(a, b KeyspaceID) int { return bytes.Compare(trimZeros(a), trimZeros(b)) }

// compareEnds orders ends of ranges, of which the empty one is the last.
func compareEnds(a, b KeyspaceID) int {
	switch {
	case len(a) == 0 && len(b) == 0:
		return 0
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return compareIDs(a, b)
}

func startsBefore(start, end KeyspaceID) bool {
	return len(end) == 0 || compareIDs(start, end) < 0
}

func trimZeros(id KeyspaceID) KeyspaceID { return bytes.TrimRight(id, "\x00") }
