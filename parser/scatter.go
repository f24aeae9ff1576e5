package parser

import "math"

// A SELECT over several shards runs on each with a text of its own and its rows are
// merged. Scatter says how: what is changed in the text, how the rows of each shard
// are then sorted, and which of them make one row. The text keeps the client's own
// bytes. Columns that only the merge needs stand at the end of the list, where they
// are cut off.

// NoColumn stands for a column that there is none of.
const NoColumn = math.MinInt32

// A SortKey is what rows are sorted or told apart by. Columns are numbered from 0;
// negative numbers count from the end, -1 for the last one, as the columns of a *
// are known from the result only.
type SortKey struct {
	Column int // of the value
	// Weight has WEIGHT_STRING() of the value when that is a string, and Pad the weight
	// of a space when the collation pads with spaces, else nothing (MySQL manual,
	// "WEIGHT_STRING()" and "Trailing Space Handling in Comparisons").
	Weight, Pad int
	Desc        bool
	// Text: an ENUM or SET compares as the string it is, as in MIN() and MAX(). It
	// sorts by its number otherwise.
	Text bool
	// Number: Column has the value + 0, as ScatterOptions.Numbers asked for.
	Number bool
}

// AggregateFunc is how the values of a column become one.
type AggregateFunc uint8

// The functions that merge. Count is COUNT() of one expression or *.
const (
	AggregateCount AggregateFunc = iota + 1
	AggregateSum
	AggregateMin
	AggregateMax
	AggregateAvg
)

// Aggregate is a column of which the shards' values make one value.
type Aggregate struct {
	Func AggregateFunc
	Key  SortKey // its column; Weight and Pad for MIN and MAX
	// Sum and Count are the columns that an AVG is made of. Its own column has the
	// shard's average, of the right type.
	Sum, Count int
}

// LimitValue is a number of LIMIT: a literal, or the parameter with that index.
type LimitValue struct {
	Value uint64
	Param int // -1 for a literal
}

// Limit is a LIMIT clause.
type Limit struct {
	Offset, Count LimitValue
	pushed        bool // the shards give the first Offset + Count rows only
}

// Scatter says how a SELECT is answered by several shards. It is immutable and refers
// to the text by position only.
type Scatter struct {
	// Hidden is how many columns at the end of each shard's rows the client does not get.
	Hidden int
	// Order is what each shard's rows are sorted by. Without it they come in any order.
	Order []SortKey
	// Combine: rows that are equal in all of Order make one row, by Aggregates. With no
	// Order all rows do, and there is one of each shard.
	Combine bool
	// Unique: no shard has two rows that are equal in all of Order. One that has them
	// reads the statement in another way than it was read here.
	Unique     bool
	Aggregates []Aggregate
	// Sort is what the rows are sorted by after they were combined, so they have to be
	// collected. Without it they stay in Order.
	Sort []SortKey
	// Limit is the client's LIMIT clause, nil for none. It applies last.
	Limit *Limit

	edits []edit
}

// ScatterOptions is what ReadScatter is told about a statement.
type ScatterOptions struct {
	// GroupsLocal reports whether rows that are equal in these columns are all in one
	// shard, as they are when the sharding key is among them. Nil: they never are.
	GroupsLocal func(columns []ColumnName) bool
	// HasColumn reports whether a table of the FROM clause has a column of that name, and
	// whether that is known at all. Nil: it is not known.
	HasColumn func(name string) (has, known bool)
	// Numbers are the keys, counted through Order and then Sort, that are compared by
	// their number: those that the merge of an earlier answer said have to be (ENUM,
	// SET, and FLOAT in a text).
	Numbers []int
}

// ColumnName is a column as a statement names it: Schema and Table are empty where
// it does not qualify it.
type ColumnName struct{ Schema, Table, Column string }

// ReadScatter reads a SELECT that several shards have the rows of and says how their
// answers merge. The caller has checked that its tables are colocated, and that its
// subqueries in expressions can be answered by each shard for its own rows.
//
// It returns an *UnsupportedError for a statement of which the answers do not merge
// without a join or sort engine, and for one that it cannot read with certainty.
func ReadScatter(sql []byte, m Mode, o ScatterOptions) (*Scatter, error) {
	stmt, err := parseSelect(sql, m)
	if err != nil {
		return nil, err
	}
	if err := refuseSelect(stmt); err != nil {
		return nil, err
	}
	text, err := readSelectText(sql, m)
	if err != nil {
		return nil, err
	}
	r := &scatterReader{sql: sql, mode: m, options: o, stmt: stmt, text: text, scatter: &Scatter{}}
	return r.read()
}

// AppendSQL appends the statement as each of several shards gets it. sql is the text
// that was read.
func (s *Scatter) AppendSQL(dst, sql []byte) []byte {
	return s.AppendEdited(dst, len(sql), func(dst []byte, start, end int) []byte {
		return append(dst, sql[start:end]...)
	})
}

// AppendEdited is AppendSQL for a caller that has edits of its own, within names:
// what remains of the text, of length n, and what is copied in it, is appended by
// part, which appends the text from start to end.
func (s *Scatter) AppendEdited(dst []byte, n int, part func(dst []byte, start, end int) []byte) []byte {
	at := 0
	for _, e := range s.edits {
		dst = part(dst, at, e.start)
		for _, p := range e.parts {
			if p.text != "" {
				dst = append(dst, p.text...)
			} else {
				dst = part(dst, p.start, p.end)
			}
		}
		at = e.end
	}
	return part(dst, at, n)
}

// Resolve returns the numbers of the LIMIT clause; arg gives the value of a parameter. It
// is nil for a text that is not prepared, in which one is a *SyntaxError. A nil Limit is
// all rows.
func (l *Limit) Resolve(arg func(param int) (uint64, error)) (offset, count uint64, err error) {
	if l == nil {
		return 0, math.MaxUint64, nil
	}
	if offset, err = l.Offset.resolve(arg); err != nil {
		return 0, 0, err
	}
	count, err = l.Count.resolve(arg)
	return offset, count, err
}

func (v LimitValue) resolve(arg func(param int) (uint64, error)) (uint64, error) {
	switch {
	case v.Param < 0:
		return v.Value, nil
	case arg == nil:
		return 0, &SyntaxError{Near: "?", Line: 1}
	}
	return arg(v.Param)
}

// Replaced reports whether the shards get another value for a parameter than the
// client gave, as the text they get has the parameters of the client's text. offset
// and count are what Resolve gave.
func (l *Limit) Replaced(param int, offset, count uint64) (value uint64, ok bool) {
	if l == nil || l.Offset.Param != param && l.Count.Param != param || param < 0 {
		return 0, false
	}
	if l.Offset.Param == param && l.Count.Param >= 0 {
		return 0, true // it remains the offset
	}
	if !l.pushed {
		return math.MaxUint64, true
	}
	return saturated(offset, count), true
}

// saturated returns a + b, or the largest number.
func saturated(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}
