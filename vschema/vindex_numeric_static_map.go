package vschema

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// numericStaticMapVindex is the number that a list has for the value, for others a vindex of another type or the value.
type numericStaticMapVindex struct {
	numbers  map[uint64]uint64
	fallback Vindex // nil for the value itself
}

func newNumericStaticMap(p vindexParams) (Vindex, error) {
	var m numericStaticMapVindex
	var err error
	if m.numbers, err = p.numbers(); err != nil {
		return nil, err
	}
	if fallback, ok := p.values["fallback_type"]; ok {
		if m.fallback, err = newSubVindex(fallback, nil, nil); err != nil {
			return nil, &ParamError{"fallback_type", err.Error()}
		}
	}
	return m, nil
}

// numbers reads the list of "json" or of the file "json_path".
func (p vindexParams) numbers() (map[uint64]uint64, error) {
	text, inline := p.values["json"]
	_, inFile := p.values["json_path"]
	switch {
	case inline && inFile:
		return nil, &ParamError{"json_path", `the list is in "json" already: leave one out`}
	case inline:
		return parseNumbers("json", []byte(text))
	case !inFile:
		return nil, &ParamError{Message: `the list is missing: write the param "json": "{\"1\": 2}", or "json_path" with a file of the same`}
	}
	data, err := p.file("json_path")
	if err != nil {
		return nil, err
	}
	return parseNumbers("json_path", data)
}

func parseNumbers(param string, data []byte) (map[uint64]uint64, error) {
	var written map[string]uint64
	if err := json.Unmarshal(data, &written); err != nil {
		return nil, &ParamError{param, fmt.Sprintf(`the list has to be an object of whole numbers, such as {"1": 2}: %s`, err)}
	}
	numbers := make(map[uint64]uint64, len(written))
	for _, key := range slices.Sorted(maps.Keys(written)) {
		n, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			return nil, &ParamError{param, fmt.Sprintf("%q is not a whole number from 0 to 18446744073709551615", key)}
		}
		if _, again := numbers[n]; again {
			return nil, &ParamError{param, fmt.Sprintf("%d is listed twice: remove one", n)}
		}
		numbers[n] = written[key]
	}
	return numbers, nil
}

func (numericStaticMapVindex) Columns() int { return 1 }
func (numericStaticMapVindex) Cost() int    { return 1 }

func (m numericStaticMapVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	n, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	mapped, listed := m.numbers[n]
	switch {
	case listed:
		n = mapped
	case m.fallback != nil:
		return m.fallback.Map(dst, values)
	}
	return binary.BigEndian.AppendUint64(dst, n), nil
}
