package vschema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Vindex maps the columns of a row to a keyspace id, the same one always: Vitess's functional and unique vindexes, bit
// for bit, and modulo. Any number of goroutines may use one.
type Vindex interface {
	// Map appends the keyspace id of the values, as many as Columns, to dst, which is allocated anew only where it is
	// too short. It returns a *ValueError for a value that it cannot map.
	Map(dst KeyspaceID, values []Value) (KeyspaceID, error)
	// Columns is how many columns it takes.
	Columns() int
	// Cost is Vitess's: of two vindexes that route a statement, the one that costs less does. 0 is the value itself.
	Cost() int
}

// PrefixVindex is a vindex of several columns that narrows a statement down to some shards by the first of them.
type PrefixVindex interface {
	Vindex
	// MapPrefix returns where all rows are that have these values in the first columns, at least one and less than all.
	MapPrefix(values []Value) (KeyRange, error)
}

// ErrNoShard is what errors.Is finds in the error of a value that no row of any shard can have in the column: Vitess
// refuses to insert it and finds no row by it. Other errors of Map refuse both.
var ErrNoShard = errors.New("no shard")

// ValueError is a value that a vindex cannot map.
type ValueError struct {
	Index   int // of the value among those given, from 0
	Value   Value
	Reason  string
	noShard bool
}

// Error returns the value and the reason.
func (e *ValueError) Error() string { return e.Value.String() + " " + e.Reason }

// Is finds ErrNoShard.
func (e *ValueError) Is(target error) bool { return target == ErrNoShard && e.noShard }

// notNumber is the error of the vindexes over numbers.
func notNumber(index int, v Value) error {
	return &ValueError{Index: index, Value: v.clone(), Reason: "is not a whole number from 0 to 18446744073709551615", noShard: true}
}

// clone keeps the value for an error that outlives the statement.
func (v Value) clone() Value {
	v.text = slices.Clone(v.text)
	return v
}

// ReadFile returns the bytes of a file that a vindex names in its params.
type ReadFile func(path string) ([]byte, error)

// ParamError is what is wrong with one param of a vindex.
type ParamError struct {
	Param   string // empty when a param is missing
	Message string
}

// Error returns the param and the message.
func (e *ParamError) Error() string {
	if e.Param == "" {
		return e.Message
	}
	return e.Param + ": " + e.Message
}

// vindexType is one "type" of vindexes.
type vindexType struct {
	params []string                             // that it knows
	build  func(p vindexParams) (Vindex, error) // nil for a lookup vindex
	lookup *lookupType                          // nil for a functional vindex
}

// vindexTypes has every type by its name. It is filled by init because multicol and numeric_static_map build others.
var vindexTypes map[string]vindexType

func init() {
	vindexTypes = map[string]vindexType{
		"hash":                 {build: fixed(hashVindex{})},
		"xxhash":               {build: fixed(xxhashVindex{})},
		"numeric":              {build: fixed(numericVindex{})},
		"reverse_bits":         {build: fixed(reverseBitsVindex{})},
		"binary":               {build: fixed(binaryVindex{})},
		"binary_md5":           {build: fixed(binaryMD5Vindex{})},
		"unicode_loose_md5":    {build: fixed(unicodeLooseMD5Vindex{})},
		"unicode_loose_xxhash": {build: fixed(unicodeLooseXXHashVindex{})},
		"null":                 {build: fixed(nullVindex{})},
		"numeric_static_map":   {build: newNumericStaticMap, params: []string{"json", "json_path", "fallback_type"}},
		"cfc":                  {build: newCFC, params: []string{"hash", "offsets"}},
		"region_experimental":  {build: newRegionExperimental, params: []string{"region_bytes"}},
		"region_json":          {build: newRegionJSON, params: []string{"region_bytes", "region_map"}},
		"multicol":             {build: newMultiCol, params: multiColParams},
		"modulo":               {build: newModulo, params: []string{"shards"}},
	}
	maps.Copy(vindexTypes, lookupTypes())
}

func fixed(v Vindex) func(vindexParams) (Vindex, error) {
	return func(vindexParams) (Vindex, error) { return v, nil }
}

// vindexParams are the params of a vindex as written.
type vindexParams struct {
	values map[string]string
	read   ReadFile
}

// required returns a param that has to be there, with what to write for it.
func (p vindexParams) required(param, example string) (string, error) {
	value, ok := p.values[param]
	if !ok {
		return "", &ParamError{Message: fmt.Sprintf("the param %q is missing: write %q: %q", param, param, example)}
	}
	return value, nil
}

// file returns the bytes of the file that a param names.
func (p vindexParams) file(param string) ([]byte, error) {
	if p.read == nil {
		return nil, &ParamError{param, "a vschema that is not a file cannot name one"}
	}
	data, err := p.read(p.values[param])
	if err != nil {
		return nil, &ParamError{param, err.Error()}
	}
	return data, nil
}

// NewVindex builds a functional vindex by the name of its type and its params; read may be nil when no param names a
// file. Its error joins a *ParamError for each param at fault.
func NewVindex(name string, params map[string]string, read ReadFile) (Vindex, error) {
	t, ok := vindexTypes[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown vindex type %q: %s", name, Suggest(name, vindexTypeNames()))
	case t.lookup != nil:
		return nil, fmt.Errorf("vindex type %q looks keyspace ids up in a table, and is not supported yet in this version", name)
	}
	return t.new(vindexParams{params, read})
}

// new builds a functional vindex, or says everything that is wrong with its params.
func (t vindexType) new(p vindexParams) (Vindex, error) {
	v, err := t.build(p)
	if err := errors.Join(t.unknownParams(p.values), err); err != nil {
		return nil, err
	}
	return v, nil
}

func vindexTypeNames() []string { return slices.Collect(maps.Keys(vindexTypes)) }

// unknownParams are errors: Vitess would ignore them.
func (t vindexType) unknownParams(params map[string]string) error {
	known := t.params
	if slices.Contains(known, "column_vindex") {
		known = slices.Concat(known, subVindexParams(params))
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			errs = append(errs, &ParamError{name, "unknown param: this type has none"})
		default:
			errs = append(errs, &ParamError{name, "unknown param: " + Suggest(name, known)})
		}
	}
	return errors.Join(errs...)
}
