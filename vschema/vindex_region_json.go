package vschema

import (
	"encoding/json"
	"fmt"
)

// regionJSONVindex is the number that a list has for a region, the second column, in one or two bytes, and the hash of
// the first column.
type regionJSONVindex struct {
	regions     map[string]uint64
	regionBytes int
}

func newRegionJSON(p vindexParams) (Vindex, error) {
	var r regionJSONVindex
	var err error
	if r.regionBytes, err = p.regionBytes(); err != nil {
		return nil, err
	}
	if _, err = p.required("region_map", "regions.json"); err != nil {
		return nil, err
	}
	data, err := p.file("region_map")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r.regions); err != nil {
		return nil, &ParamError{"region_map", fmt.Sprintf(`the file has to be an object of whole numbers, such as {"DE": 1}: %s`, err)}
	}
	return r, nil
}

func (regionJSONVindex) Columns() int { return 2 }
func (regionJSONVindex) Cost() int    { return 1 }

func (r regionJSONVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	id, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	var scratch [maxDigits]byte
	region, ok := r.regions[string(values[1].bytes(scratch[:]))]
	if !ok {
		return dst, &ValueError{Index: 1, Value: values[1].clone(), Reason: "is not in the region_map", noShard: true}
	}
	return appendHash(appendRegion(dst, region, r.regionBytes), id), nil
}
