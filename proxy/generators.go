package proxy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// generator returns the generator of the vschema with a sequence's name; nil for a sequence.
func (s *keyspaces) generator(name sequence.Name) *vschema.Generator {
	v := s.catalog.VSchema()
	if v == nil {
		return nil
	}
	if k, ok := v.Keyspace(name.Keyspace); ok {
		g, _ := k.Generator(name.Table)
		return g
	}
	return nil
}

// nextGenerated takes n values of a snowflake, which follow each other.
func (f *idTaker) nextGenerated(g *vschema.Generator, n int64) (sequence.Range, error) {
	if g.IsText() {
		return sequence.Range{}, refuseGenerator(g, "NEXT VALUE", "its ids are no numbers: let it fill a column, or use UUID()")
	}
	numbers, err := f.srv.cfg.Generators.Snowflake(g)
	if err != nil {
		return sequence.Range{}, err
	}
	return numbers.Next(f.ctx, n)
}

func refuseGenerator(g *vschema.Generator, what, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf("seqgate does not support %s of generator '%s.%s' (%s): %s", what, g.Keyspace, g.Name, g.Type, advice))
}

// generators returns all generators of the vschema.
func (s *keyspaces) generators() (all []*vschema.Generator) {
	if v := s.catalog.VSchema(); v != nil {
		for _, k := range v.Keyspaces() {
			all = append(all, k.Generators()...)
		}
	}
	return all
}

// showGenerators returns the generators of the vschema. What only a snowflake has is empty for the others; those that take
// segments are among the sequences, once they were used.
func (d *commandStatement) showGenerators() shown {
	result := shown{columns: []wire.Column{
		wire.TextColumn("Generator", 129), wire.TextColumn("Type", 16), wire.TextColumn("Layout", 64), wire.TextColumn("Bits", 128), wire.TextColumn("Ends", 32),
		wire.TextColumn("Longest_run", 20), wire.TextColumn("Worker", 20), wire.TextColumn("Worker_from", 129), wire.TextColumn("Lease_left_ms", 20),
		wire.TextColumn("Reserved", 32), wire.TextColumn("Clock_off_ms", 20), wire.TextColumn("Lost", 20), wire.TextColumn("Last", 32), wire.TextColumn("Ahead_ms", 20),
		wire.TextColumn("Waits", 20), wire.TextColumn("Clock_steps", 20), wire.TextColumn("Last_error", 1024),
	}}
	for _, g := range d.srv.generators() {
		row := make([]string, len(result.columns))
		row[0], row[1] = g.Keyspace+"."+g.Name, string(g.Type)
		if g.Type == vschema.Snowflake {
			f, err := d.srv.cfg.Generators.Snowflake(g)
			if err != nil {
				row[16] = err.Error()
			} else {
				showSnowflake(row, f)
			}
		}
		result.rows = append(result.rows, row)
	}
	return result
}

func showSnowflake(row []string, f *generate.Snowflake) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	st := f.Status()
	row[2], row[3], row[4], row[5] = f.Layout.Name, generate.Describe(f.Layout), f.Layout.Ends().UTC().Format(time.RFC3339), number(f.Longest)
	row[7], row[11] = st.From, number(st.Worker.Losses)
	if st.Worker.Err != nil {
		row[16] = st.Worker.Err.Error()
	}
	if st.Worker.Compared {
		row[10] = number(st.Worker.Ahead.Milliseconds())
	}
	if !st.Worker.Held {
		return
	}
	ids := st.Worker.Generator
	row[6], row[8], row[9] = number(st.Worker.Worker), number(st.Worker.Left.Milliseconds()), stamp(st.Worker.Reserved)
	row[12], row[13], row[14], row[15] = stamp(ids.Last), number(ids.Ahead.Milliseconds()), number(ids.Waits), number(ids.Steps)
}
