package vschema

import (
	"fmt"
	"slices"
	"strings"
)

// moduloVindex is seqgate's own, for tables sharded today by id % n: of the n shards that its param lists, the row with
// the remainder r is in the one after r others. Its keyspace id is the first of that shard.
type moduloVindex struct {
	shards []string     // in the order of the remainders
	first  []KeyspaceID // keyspace id of each remainder
}

func newModulo(p vindexParams) (Vindex, error) {
	list, err := p.required("shards", "users_0,users_1")
	if err != nil {
		return nil, err
	}
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
		switch {
		case names[i] == "":
			return nil, &ParamError{"shards", "an empty name: write the names of the shards between commas, that of remainder 0 first"}
		case slices.Contains(names[:i], names[i]):
			return nil, &ParamError{"shards", fmt.Sprintf("shard %q is listed twice: remove one", names[i])}
		}
	}
	shards, err := moduloShards(names)
	if err != nil {
		return nil, &ParamError{"shards", err.Error()}
	}
	m := moduloVindex{shards: names, first: make([]KeyspaceID, len(names))}
	for i, start := range shards.starts {
		id := make(KeyspaceID, max(maxIDBytes, len(start)))
		copy(id, start)
		m.first[slices.Index(names, shards.names[i])] = id
	}
	return m, nil
}

// moduloShards are shards by key ranges, where a name is one, else by names that divide the keyspace ids evenly.
func moduloShards(names []string) (*Shards, error) {
	if slices.ContainsFunc(names, isKeyRange) {
		return NewShards(names)
	}
	return evenShards(names), nil
}

// isKeyRange says whether a shard's name is a key range. 0 is the name of a shard among others.
func isKeyRange(name string) bool {
	_, err := ParseKeyRange(name)
	return err == nil && name != "0"
}

func (moduloVindex) Columns() int { return 1 }
func (moduloVindex) Cost() int    { return 1 }

func (m moduloVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	n, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	return append(dst, m.first[n%uint64(len(m.first))]...), nil
}
