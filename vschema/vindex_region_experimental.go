package vschema

import (
	"encoding/binary"
	"fmt"
)

// regionExperimentalVindex is the number of a region, the first column, in one or two bytes, and the hash of the second
// column.
type regionExperimentalVindex struct{ regionBytes int }

func newRegionExperimental(p vindexParams) (Vindex, error) {
	n, err := p.regionBytes()
	return regionExperimentalVindex{n}, err
}

func (p vindexParams) regionBytes() (int, error) {
	value, err := p.required("region_bytes", "1")
	switch {
	case err != nil:
		return 0, err
	case value == "1":
		return 1, nil
	case value == "2":
		return 2, nil
	}
	return 0, &ParamError{"region_bytes", fmt.Sprintf("write 1 or 2, not %q", value)}
}

func (regionExperimentalVindex) Columns() int { return 2 }
func (regionExperimentalVindex) Cost() int    { return 1 }

func (r regionExperimentalVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	region, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	id, ok := values[1].uint64()
	if !ok {
		return dst, notNumber(1, values[1])
	}
	return appendHash(appendRegion(dst, region, r.regionBytes), id), nil
}

func (r regionExperimentalVindex) MapPrefix(values []Value) (KeyRange, error) {
	region, ok := values[0].uint64()
	if !ok {
		return KeyRange{}, notNumber(0, values[0])
	}
	return prefixRange(appendRegion(nil, region, r.regionBytes)), nil
}

// appendRegion appends the low bytes of the region: as in Vitess, those above are cut off.
func appendRegion(dst KeyspaceID, region uint64, size int) KeyspaceID {
	if size == 1 {
		return append(dst, byte(region))
	}
	return binary.BigEndian.AppendUint16(dst, uint16(region))
}
