package generate

import (
	"fmt"
	"strings"
)

// Rivals reports whether layouts of two sets give equal ids though their worker ids differ: they count the same ticks in the
// same bits, and divide the rest of the id in another way.
func Rivals(set, other string) bool {
	a, ok := readSet(set)
	b, both := readSet(other)
	return ok && both && a.ticks == b.ticks && a.split != b.split
}

// Rivals is [Rivals] with a layout of the set of ids.
func (ids WorkerIDs) Rivals(set string) bool { return Rivals(ids.Set, set) }

// setName is the name of a set, as WorkerIDsOf writes it, taken apart.
type setName struct {
	ticks string // what an id's time is, and how long the id is
	split string // what its other bits are
}

func readSet(name string) (s setName, ok bool) {
	layout, since, ok := strings.Cut(name, "-since-")
	if !ok {
		return s, false
	}
	epoch, _, _ := strings.Cut(since, "-zone-")
	fields := strings.Split(layout, "-")
	unit := fields[len(fields)-1]
	width := 0
	for _, f := range fields[:len(fields)-1] {
		bits := 0
		if _, err := fmt.Sscanf(strings.TrimLeft(f, "abcdefghijklmnopqrstuvwxyz"), "%d", &bits); err != nil {
			return s, false
		}
		width += bits
	}
	if len(fields) < 2 {
		return s, false
	}
	return setName{fmt.Sprintf("%s of %s since %s in %d bits", fields[0], unit, epoch, width), strings.Join(fields[1:len(fields)-1], "-")}, true
}
