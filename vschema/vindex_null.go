package vschema

// nullVindex puts every row into the first shard, whatever its value.
type nullVindex struct{}

func (nullVindex) Columns() int { return 1 }
func (nullVindex) Cost() int    { return 100 }

func (nullVindex) Map(dst KeyspaceID, _ []Value) (KeyspaceID, error) {
	return append(dst, 0), nil
}
