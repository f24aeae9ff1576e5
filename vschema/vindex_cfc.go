package vschema

import (
	"encoding/json"
	"fmt"
)

// cfcVindex is for a column of several parts after each other, each but the last of a fixed length in bytes (Vitess's
// concatenated fixed-width composite): a hash of each part, cut to the part's length, or the bytes themselves.
type cfcVindex struct {
	hash    func(dst KeyspaceID, b []byte) KeyspaceID // nil for the bytes themselves
	offsets []int                                     // where parts end, ascending
}

func newCFC(p vindexParams) (Vindex, error) {
	var c cfcVindex
	offsets, hasOffsets := p.values["offsets"]
	switch hash := p.values["hash"]; {
	case hash == "" && hasOffsets:
		return nil, &ParamError{"offsets", `without a hash the offsets have no effect: add "hash": "md5" or "xxhash64", or leave them out`}
	case hash == "":
		return c, nil
	case hash == "md5":
		c.hash = appendMD5
	case hash == "xxhash64":
		c.hash = appendXXHash
	default:
		return nil, &ParamError{"hash", fmt.Sprintf("unknown hash %q: write md5 or xxhash64", hash)}
	}
	if !hasOffsets {
		return nil, &ParamError{Message: `the param "offsets" is missing: write where each part ends, "offsets": "[2,4]"`}
	}
	if err := json.Unmarshal([]byte(offsets), &c.offsets); err != nil || !ascending(c.offsets) {
		return nil, &ParamError{"offsets", fmt.Sprintf("%s is not a list of ascending numbers above 0, such as [2,4]", offsets)}
	}
	return c, nil
}

func ascending(offsets []int) bool {
	last := 0
	for _, offset := range offsets {
		if offset <= last {
			return false
		}
		last = offset
	}
	return len(offsets) > 0
}

func (cfcVindex) Columns() int { return 1 }
func (cfcVindex) Cost() int    { return 1 }

func (c cfcVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	var scratch [maxDigits]byte
	text := values[0].bytes(scratch[:])
	if c.hash == nil {
		return append(dst, text...), nil
	}
	if last := c.offsets[len(c.offsets)-1]; len(text) < last {
		return dst, &ValueError{Value: values[0].clone(), Reason: fmt.Sprintf("is shorter than the %d bytes of its parts", last)}
	}
	from := 0
	for _, to := range c.offsets {
		dst = c.appendPart(dst, text[from:to])
		from = to
	}
	if from < len(text) {
		dst = c.appendPart(dst, text[from:])
	}
	return dst, nil
}

// appendPart appends the hash of a part, no longer than the part is.
func (c cfcVindex) appendPart(dst KeyspaceID, part []byte) KeyspaceID {
	begin := len(dst)
	dst = c.hash(dst, part)
	return dst[:min(len(dst), begin+len(part))]
}
