package proxy

import (
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy/shapes"
	"github.com/seqgate/seqgate/proxy/wire"
)

// showStatements returns what was counted of the statements of the client's own user, those first that took the most time
// together: texts have names of tables and columns, and seqgate does not know who may see those of others. The last row is
// that of all users' statements for which there was no room.
func (d *commandStatement) showStatements() shown {
	result := shown{columns: []wire.Column{wire.TextColumn("Statement", 1100), wire.TextColumn("Keyspace", 64), wire.IntegerColumn("Calls"),
		wire.IntegerColumn("Errors"), wire.IntegerColumn("Rows"), wire.IntegerColumn("Total_microseconds"), wire.IntegerColumn("P50_microseconds"),
		wire.IntegerColumn("P99_microseconds")}}
	all, others, _ := d.srv.Statements()
	add := func(c shapes.Count, text string) {
		row := []string{text, c.Keyspace}
		for _, n := range []int64{c.Took.Count(), c.Failed, c.Rows, c.Took.Sum.Microseconds(), microseconds(c, 0.5), microseconds(c, 0.99)} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		result.rows = append(result.rows, row)
	}
	for _, c := range all {
		if c.User == d.user {
			add(c, c.Text)
		}
	}
	if others.Took.Count() > 0 {
		add(others, "(all others)")
	}
	return result
}

func microseconds(c shapes.Count, quantile float64) int64 {
	return int64(c.Quantile(quantile) / time.Microsecond)
}
