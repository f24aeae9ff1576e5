package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// Explanation is a plan in lines: what each is about, and what it says.
type Explanation [][]string

func (e *Explanation) Add(about, format string, args ...any) {
	says := fmt.Sprintf(format, args...)
	if len(says) > MaxExplained {
		says = fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(says[:MaxExplained], ""), len(says))
	}
	*e = append(*e, []string{about, says})
}

// MaxExplained is how much of a text is shown, in bytes: a long one has more rows of the same kind.
const MaxExplained = 64 << 10

// Binding adds what fills which column.
func (e *Explanation) Binding(p *Fill) {
	e.Add("table", "%s", p.Binding.Table)
	e.Add("column", "%s", p.Binding.Column)
	switch b := p.Binding; {
	case b.Generator != nil:
		e.Add("generator", "%s (%s)", b.Sequence, b.Generator.Type)
	case b.Key.Name != "":
		e.Add("sequence", "%s, for each value of %s", b.Sequence, b.Key.Name)
	default:
		e.Add("sequence", "%s", b.Sequence)
	}
}

// Server adds the text that a keyspace's server gets.
func (e *Explanation) Server(k *catalog.Keyspace, sql []byte) {
	name := k.String()
	if name == "" {
		name = "server"
	}
	e.Add(name, "%s", sql)
}

// OwnIDs adds what becomes of ids that the statement brings along.
func (e *Explanation) OwnIDs(p *Fill) {
	if p.Binding.OnExplicit != catalog.ExplicitIgnore && p.Binding.Key.Name == "" {
		e.Add("ids", "its own; the sequence is moved past them once the server has stored them")
		return
	}
	e.Add("ids", "its own")
}

// IDs adds how many ids the statement takes.
func (e *Explanation) IDs(p *Fill) {
	switch {
	case p.Params > 0:
		e.Add("ids", "%d, and one more for each of %d rows whose parameter leaves it open", p.Open, p.Params)
	case p.Step > 1:
		e.Add("ids", "%d, each %d above the one before", p.Open, p.Step)
	default:
		e.Add("ids", "%d", p.Open)
	}
}

// Next adds what a query of a sequence's value takes.
func (e *Explanation) Next(n *NextValues) {
	e.Add("plan", "next value")
	e.Add("sequence", "%s", n.Name)
	switch {
	case n.Call == parser.LastValue:
		e.Add("ids", "0; it is the session's latest value")
	case n.Call == parser.SetValue:
		e.Add("ids", "0; the next value becomes %d at least", n.Next)
	case n.CountParam:
		e.Add("ids", "as many as its parameter says")
	default:
		e.Add("ids", "%d", n.Count)
	}
}

// Route adds what the planner of routes says of a statement that goes to so many shards.
func (e *Explanation) Route(p *route.Plan, shards int) {
	lines := strings.Split(p.String(), "\n")
	switch {
	case p.Kind == route.Any:
		e.Add("plan", "one shard")
		e.Add("shards", "any one: all have the same rows")
	case shards == 1:
		e.Add("plan", "one shard")
	case p.Select:
		e.Add("plan", "scatter, merge")
	case p.Kind == route.Everywhere && !p.SameRows:
		e.Add("plan", "all shards")
	default:
		e.Add("plan", "several shards, all or none")
	}
	for _, line := range lines[1:] {
		about, says, _ := strings.Cut(line, ": ")
		e.Add(about, "%s", says)
	}
}

// Explain shows an INSERT or REPLACE whose rows say where it goes.
func (in *ShardedInsert) Explain(e *Explanation) {
	switch in.Kind {
	case Filled:
		e.Add("plan", "fill, divide by rows")
		e.Binding(&in.Fill)
		e.IDs(&in.Fill)
	default:
		e.Add("plan", "divide by rows")
		e.Add("table", "%s", in.Table.Name)
	}
	if columns := in.vindexColumns(); len(columns) > 0 {
		e.Add("vindex", "%s(%s)", in.Table.ColumnVindexes[0].Name, strings.Join(columns, ", "))
	}
	if in.Shards == nil {
		for _, shard := range in.Targets {
			e.Add(in.Keyspace.Shards[shard].String(), "%s", in.explainRows(func(int) bool { return true }))
		}
		return
	}
	byID := func(row int) bool { return in.Pending && in.DependsOnID(row) }
	for i, shard := range in.Keyspace.Shards {
		here := func(row int) bool { return !byID(row) && in.Shards[row] == i }
		if in.anyRow(here) {
			e.Add(shard.String(), "%s", in.explainRows(here))
		}
	}
	if in.anyRow(byID) {
		e.Add("by new id", "%s", in.explainRows(byID))
	}
}

func (in *ShardedInsert) anyRow(of func(row int) bool) bool {
	for row := range in.Shards {
		if of(row) {
			return true
		}
	}
	return false
}

// explainRows returns the statement with the rows that of reports true for.
func (in *ShardedInsert) explainRows(of func(row int) bool) string {
	edits := parser.RowEdits{Database: in.Keyspace.Shards[0].Database, Rows: of}
	if in.Kind == Filled {
		edits.FillOptions, edits.Column = in.Fill.Options(), in.Binding.Column
		numbers, first := in.numberIDs(), -1 // the row that gets the first id of its text
		edits.Value = func(dst []byte, row int) ([]byte, bool) {
			if !in.Planner.IsOpen(row) {
				return dst, false
			}
			if first < 0 {
				first = row
			}
			return AppendNamedID(dst, numbers[row], in.Fill.Wrap && row == first), true
		}
	}
	return string(in.Planner.Stmt.AppendRows(nil, in.SQL, edits))
}

// numberIDs tells of each row which of the new ids it gets, from 1.
func (in *ShardedInsert) numberIDs() []int {
	numbers := make([]int, in.Planner.Stmt.Rows)
	n := 0
	for row := range numbers {
		if in.Planner.IsOpen(row) {
			n++
		}
		numbers[row] = n
	}
	return numbers
}

// AppendNamedID appends what stands in the place of the n-th id.
func AppendNamedID(dst []byte, n int, wrap bool) []byte {
	if wrap {
		return append(AppendNamedID(append(dst, "LAST_INSERT_ID("...), n, false), ')')
	}
	return strconv.AppendInt(append(dst, ":id"...), int64(n), 10)
}
