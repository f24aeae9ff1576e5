package merge

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/seqgate/seqgate/parser"
)

// total is an aggregate of a group.
type total struct {
	format *format
	aggregate
	best  values  // of MIN and MAX
	other values  // of the row at hand
	sum   decimal // of SUM and AVG; valid when some
	term  decimal // of the row at hand
	float float64 // the same of a DOUBLE
	some  bool
	n     int64 // of COUNT and AVG
}

// aggregate settles an aggregate.
func (f *format) aggregate(a parser.Aggregate) (aggregate, error) {
	key, err := f.key(a.Key)
	g := aggregate{kind: a.Func, key: key, sum: key.column, count: key.column}
	if err == nil && a.Func == parser.AggregateAvg {
		if g.sum, err = f.index(a.Sum); err == nil {
			g.count, err = f.index(a.Count)
		}
	}
	if err != nil {
		return g, err
	}
	kind := f.columns[g.sum].kind()
	switch {
	case key.kind == kindBit, // MariaDB's MIN() of a BIT is no BIT
		a.Func == parser.AggregateCount && !f.columns[g.count].isCount(),
		a.Func == parser.AggregateAvg && !f.columns[g.count].isCount(),
		(a.Func == parser.AggregateSum || a.Func == parser.AggregateAvg) && (kind != kindDecimal && kind != kindDouble || kind != key.kind):
		return g, &UnsupportedError{"merging an aggregate of this type from several shards"}
	}
	return g, nil
}

// begin begins a group with its first row.
func (t *total) begin(fields []field) error {
	t.some, t.n, t.float = false, 0, 0
	if t.isExtreme() {
		return t.best.read(t.format, []sortKey{t.key}, fields)
	}
	return t.count(fields)
}

func (t *total) isExtreme() bool {
	return t.kind == parser.AggregateMin || t.kind == parser.AggregateMax
}

// add adds a row to the group, whose fields are group.
func (t *total) add(group, fields []field) error {
	if !t.isExtreme() {
		return t.count(fields)
	}
	if fields[t.key.column].null {
		return nil
	}
	if err := t.other.read(t.format, []sortKey{t.key}, fields); err != nil {
		return err
	}
	c := t.other.list[0].compare(&t.best.list[0])
	if !group[t.key.column].null && (c == 0 || (c < 0) != (t.kind == parser.AggregateMin)) {
		return nil
	}
	t.best, t.other = t.other, t.best
	for _, i := range [...]int{t.key.column, t.key.weight, t.key.pad} {
		if i >= 0 {
			group[i] = fields[i].clone()
		}
	}
	return nil
}

func (f field) clone() field {
	raw := slices.Clone(f.raw)
	return field{raw: raw, text: raw[len(raw)-len(f.text):], null: f.null}
}

// count adds a row to COUNT, SUM and AVG.
func (t *total) count(fields []field) error {
	if t.kind != parser.AggregateSum {
		n, ok := t.format.count(fields[t.aggregate.count])
		if !ok {
			return errMalformed
		}
		t.n += n
	}
	sum := fields[t.sumColumn()]
	if t.kind == parser.AggregateCount || sum.null {
		return nil
	}
	if t.key.kind == kindDouble {
		x, ok := t.format.float(sum.text)
		if !ok {
			return errMalformed
		}
		t.float += x
		t.some = true
		return nil
	}
	if !t.some {
		t.sum.n.SetInt64(0)
		t.sum.scale = 0
	}
	if !t.term.parse(sum.text) {
		return errMalformed
	}
	t.sum.add(&t.term)
	t.some = true
	return nil
}

func (t *total) sumColumn() int { return t.aggregate.sum }

// count reads what COUNT() gave.
func (f *format) count(v field) (n int64, ok bool) {
	switch {
	case v.null:
		return 0, false
	case !f.binary:
		n, err := strconv.ParseInt(string(v.text), 10, 64)
		return n, err == nil
	case len(v.text) == 8:
		return int64(binary.LittleEndian.Uint64(v.text)), true
	}
	return 0, false
}

// finish sets the group's value.
func (t *total) finish(group []field) error {
	switch {
	case t.isExtreme():
		return nil
	case t.kind == parser.AggregateCount:
		group[t.key.column] = t.format.countField(t.n)
		return nil
	case !t.some || t.kind == parser.AggregateAvg && t.n == 0:
		group[t.key.column] = field{null: true}
		return nil
	case t.key.kind == kindDouble:
		return t.finishFloat(group)
	}
	decimals := int(t.format.columns[t.key.column].decimals)
	d := &t.sum
	if t.kind == parser.AggregateAvg {
		d = d.divide(t.n, decimals)
	}
	group[t.key.column] = textField(d.append(nil))
	return nil
}

func (t *total) finishFloat(group []field) error {
	x := t.float
	if t.kind == parser.AggregateAvg {
		x /= float64(t.n)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return &UnsupportedError{"a SUM beyond the range of DOUBLE"}
	}
	if t.format.binary {
		group[t.key.column] = wideField(math.Float64bits(x))
		return nil
	}
	group[t.key.column] = textField(appendDouble(nil, x, t.format.columns[t.key.column].decimals))
	return nil
}

func (f *format) countField(n int64) field {
	if f.binary {
		return wideField(uint64(n))
	}
	return textField(strconv.AppendInt(nil, n, 10))
}
