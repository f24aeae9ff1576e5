package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// Check compares the servers with the configuration, and prints what it finds.
func (of *Cluster) Check(ctx context.Context, strict bool, out io.Writer) error {
	cfg := of.cfg
	c := checker{strict: strict, cfg: cfg, cluster: of, out: out}
	c.connect()
	list := bindings(cfg, c.servers)
	for _, b := range list {
		c.checkBinding(ctx, b)
	}
	c.checkGenerators(ctx, time.Now())
	c.checkAPI()
	if cfg.VSchema == nil {
		c.reportUnusable(len(list) == 0)
	}
	for _, k := range cfg.Keyspaces {
		c.checkSharding(ctx, k)
	}
	c.checkClusters(ctx)
	return c.summary()
}

// checker compares the servers with the files and prints a line for each finding.
type checker struct {
	strict           bool // servers have to be there
	cfg              *config.Config
	cluster          *Cluster
	servers          servers // those that were reached
	out              io.Writer
	errors, warnings int
	writeErr         error // the first of the output
}

func (c *checker) print(kind string, subject any, format string, args ...any) {
	_, err := fmt.Fprintf(c.out, "%s: %v: %s\n", kind, subject, fmt.Sprintf(format, args...))
	if c.writeErr == nil {
		c.writeErr = err
	}
}

func (c *checker) fail(subject any, format string, args ...any) {
	c.errors++
	c.print("error", subject, format, args...)
}

func (c *checker) warn(subject any, format string, args ...any) {
	c.warnings++
	c.print("warning", subject, format, args...)
}

// away is warn for a server that did not answer, or fail where servers have to be there.
func (c *checker) away(subject any, format string, args ...any) {
	if c.strict {
		c.fail(subject, format, args...)
		return
	}
	c.warn(subject, format, args...)
}

// failed is fail, or a warning when a server did not answer.
func (c *checker) failed(subject any, err error) {
	if unreachable(err) {
		c.away(subject, "the server cannot be reached, this is not checked: %v", err)
		return
	}
	c.fail(subject, "%v", err)
}

func (c *checker) note(subject any, format string, args ...any) {
	c.print("note", subject, format, args...)
}

func (c *checker) ok(subject any, format string, args ...any) {
	c.print("ok", subject, format, args...)
}

func (c *checker) connect() {
	_, _ = c.cluster.reach() // all at the same time; each is asked for its own error below
	for _, k := range c.cfg.Keyspaces {
		for i, shard := range k.Shards {
			s, err := c.cluster.open[k.Name][i]()
			switch {
			case err == nil:
				c.servers = append(c.servers, s)
			case unreachable(err):
				c.away(k.ServerName(shard), "the server cannot be reached, its tables are not checked: %v", err)
			default:
				c.fail(k.ServerName(shard), "%v", err)
			}
		}
	}
}

// checkBinding checks a sequence and what it fills, as far as their servers were reached.
func (c *checker) checkBinding(ctx context.Context, b binding) {
	var row *SeqRow
	switch s := c.servers.of(b.sequence.Keyspace); {
	case c.cluster.isStriped(b.sequence):
		c.checkStriped(ctx, b)
	case s == nil:
	case c.cluster.isKeyed(b.sequence):
		c.checkKeyed(ctx, s, b)
	default:
		row = c.checkSequence(ctx, s, b.sequence)
	}
	for _, f := range b.fills {
		for _, s := range c.reached(f.TableName) {
			c.checkFilled(ctx, s, f, b.sequence, row)
		}
	}
	if len(b.fills) == 0 && row != nil {
		c.ok(b.sequence, "next_id %d, cache %d", row.next.Int64, row.cache.Int64)
	}
}

// checkSequence returns the sequence's row when ids can be taken from it.
func (c *checker) checkSequence(ctx context.Context, s *Server, name TableName) *SeqRow {
	c.checkFailover(ctx, s, name)
	t, ok := s.table(name.Table)
	switch {
	case !ok && c.cfg.Sequences.AutoCreate:
		c.note(name, "the sequence table is missing: it is made when first used, or by seqgate init")
		return nil
	case !ok:
		c.fail(name, "the sequence table is missing: run seqgate init")
		return nil
	}
	quoted := s.quoted(name.Table)
	faults := sequenceFaults(t, quoted)
	for _, fault := range faults {
		c.fail(name, "the table %s", fault)
	}
	if !hasSequenceColumns(t) {
		return nil
	}
	rows, err := s.readSequence(ctx, name.Table)
	if err != nil {
		c.failed(name, err)
		return nil
	}
	if len(rows) == 0 && len(faults) == 0 && c.cfg.Sequences.AutoCreate {
		c.note(name, "there is no row with id = 0: it is made when first used, or by seqgate init")
		return nil
	}
	c.checkOrdered(name, t)
	last := maxValue(t)
	for _, fault := range rowFaults(quoted, rows, last) {
		faults = append(faults, fault)
		c.fail(name, "%s", fault)
	}
	if err = s.explain(ctx, "UPDATE "+quoted+" SET `next_id` = `next_id` WHERE `id` = 0"); err != nil {
		c.failed(name, fmt.Errorf("seqgate cannot reserve ids: %w", err))
	}
	if len(faults) > 0 || err != nil {
		return nil
	}
	if next := max(rows[0].next.Int64, 1); last < math.MaxInt64 && last-next+1 < last/10 {
		c.warn(name, "ids left up to MAXVALUE %d: %d, next_id is %d", last, last-next+1, next)
	}
	return &rows[0]
}

// rowFaults says what keeps ids from being taken from a sequence with these rows of id = 0, which may give ids up to last.
func rowFaults(quoted string, rows []SeqRow, last int64) (faults []string) {
	switch {
	case len(rows) == 0:
		return []string{"there is no row with id = 0: run seqgate init"}
	case len(rows) > 1:
		return []string{fmt.Sprintf("there are %d rows with id = 0: leave the one with the largest next_id", len(rows))}
	case rows[0].usedUp():
		return []string{fmt.Sprintf("the ids are used up: %d was the last", int64(math.MaxInt64))}
	case rows[0].next.Int64 > last:
		return []string{fmt.Sprintf("the ids are used up: next_id %d is past MAXVALUE %d", rows[0].next.Int64, last)}
	}
	row := rows[0]
	switch {
	case !row.next.Valid:
		faults = append(faults, "next_id is NULL: run seqgate init")
	case row.next.Int64 < 0:
		faults = append(faults, fmt.Sprintf("next_id is %d, and ids begin at 1: run seqgate init", row.next.Int64))
	}
	if !row.cache.Valid || row.cache.Int64 < 1 {
		faults = append(faults, fmt.Sprintf("cache is not at least 1: UPDATE %s SET `cache` = 1000 WHERE `id` = 0", quoted))
	}
	return faults
}

// checkFilled checks a column that a sequence fills. row is nil when the sequence itself is at fault or away.
func (c *checker) checkFilled(ctx context.Context, s *Server, f filled, from TableName, row *SeqRow) {
	name := s.named(f.Table)
	t, ok := s.table(f.Table)
	if !ok {
		c.missingTable(s, f.Table)
		return
	}
	c.checkColumnList(f.TableName, name, t)
	c.checkKeyColumn(f.TableName, name, t)
	column, ok := columnOf(t, f.column)
	if !ok {
		c.fail(name, "the auto_increment column %s is missing: %s", f.column, vschema.Suggest(f.column, columnNames(t.Columns)))
		return
	}
	subject := name.String() + "." + column.Name
	if !column.TakesIDs() {
		c.fail(subject, "a %s holds no sequence's ids: make it a BIGINT", column.DataType())
		return
	}
	if row == nil {
		return
	}
	used, err := s.ReadUsedIDs(ctx, f.Table, column)
	if err != nil {
		c.failed(subject, err)
		return
	}
	c.checkRange(subject, column, from, row, used)
}

// missingTable tells of a table that the vschema names and a server lacks.
func (c *checker) missingTable(s *Server, table string) {
	if len(s.Tables) == 0 {
		c.fail(s.named(table), "the table is missing: the database %s has no tables", s.database)
		return
	}
	c.fail(s.named(table), "the table is missing in database %s, or the vschema names it wrongly: %s", s.database,
		vschema.Suggest(table, slices.Collect(maps.Keys(s.Tables))))
}

// checkRange checks that the sequence is above the ids in use and below the end of the column's type.
func (c *checker) checkRange(subject string, column catalog.Column, sequence TableName, row *SeqRow, used UsedIDs) {
	next := max(row.next.Int64, 1)
	fault, fatal := rangeFault(next, used, column)
	switch {
	case fatal:
		c.fail(subject, "filled from %s: %s", sequence, fault)
		return
	case fault != "":
		c.warn(subject, "filled from %s: %s", sequence, fault)
	}
	c.ok(subject, "filled from %s: next_id %d, cache %d, %d ids left of %s", sequence, next, row.cache.Int64, column.MaxID()-next+1, column.ShortType())
}

// rangeFault says what is wrong with a next_id for a column with these ids in use, "" for nothing. It is fatal when ids
// would repeat or INSERTs fail.
func rangeFault(next int64, used UsedIDs, column catalog.Column) (fault string, fatal bool) {
	last := column.MaxID()
	switch left := last - next + 1; {
	case used.Max >= last:
		return fmt.Sprintf("the ids are used up: the largest id, %d, is the last of %s: make it a BIGINT", used.Max, column.ShortType()), true
	case next > last:
		return fmt.Sprintf("the ids are used up: next_id %d is past the end of %s, %d: make it a BIGINT", next, column.ShortType(), last), true
	case next <= used.Max:
		return fmt.Sprintf("next_id %d is not above the largest id %d, ids would repeat: run seqgate init", next, used.Max), true
	case next < used.Counter:
		return fmt.Sprintf("next_id %d is below the AUTO_INCREMENT counter %d, ids of deleted rows may be given again: run seqgate init", next, used.Counter), false
	case left < last/10:
		return fmt.Sprintf("only %d ids are left of %s, next_id is %d: make it a BIGINT", left, column.ShortType(), next), false
	}
	return "", false
}

// checkColumnList holds an authoritative list of columns against the table, printed as subject: INSERTs without a list of
// their own are understood by it.
func (c *checker) checkColumnList(name, subject TableName, t *catalog.Table) {
	if c.cfg.VSchema == nil {
		return
	}
	k, _ := c.cfg.VSchema.Keyspace(name.Keyspace)
	declared, ok := k.Table(name.Table)
	if !ok || !declared.Authoritative {
		return
	}
	var want, got []string
	for _, column := range declared.Columns {
		if !column.Invisible {
			want = append(want, column.Name)
		}
	}
	for _, column := range t.Columns {
		if !column.Invisible() {
			got = append(got, column.Name)
		}
	}
	if !slices.EqualFunc(want, got, strings.EqualFold) {
		c.fail(subject, "the vschema's authoritative columns are %s, the table's are %s: correct the vschema",
			strings.Join(want, ", "), strings.Join(got, ", "))
	}
}

// checkKeyColumn checks the column by which a keyed sequence counts the rows of a table, which is printed as subject.
func (c *checker) checkKeyColumn(name, subject TableName, t *catalog.Table) {
	if c.cfg.VSchema == nil {
		return
	}
	k, _ := c.cfg.VSchema.Keyspace(name.Keyspace)
	declared, ok := k.Table(name.Table)
	if !ok || declared.AutoIncrement == nil || declared.AutoIncrement.Key == "" {
		return
	}
	column, ok := columnOf(t, declared.AutoIncrement.Key)
	switch {
	case !ok:
		c.fail(subject, "the key column %s is missing: %s", declared.AutoIncrement.Key, vschema.Suggest(declared.AutoIncrement.Key, columnNames(t.Columns)))
	case !column.IsInteger() && !slices.Contains([]string{"char", "varchar", "binary", "varbinary"}, column.DataType()):
		c.fail(subject, "the key column %s is a %s: use an integer, CHAR, VARCHAR, BINARY or VARBINARY column", column.Name, column.DataType())
	}
}

// reportUnusable tells of tables that look as if the convention filled them, and it does not.
func (c *checker) reportUnusable(nothingFilled bool) {
	if nothingFilled && len(c.servers) > 0 {
		c.warn("convention", "no table has a sequence table beside it, nothing is filled: seqgate init makes one for each table that it is given")
	}
	for _, s := range c.servers {
		reasons := s.unusable()
		for _, name := range slices.SortedFunc(maps.Keys(reasons), func(a, b TableName) int { return strings.Compare(a.Table, b.Table) }) {
			c.warn(name, "not filled from %s%s beside it: %s", name.Table, catalog.SequenceSuffix, reasons[name])
		}
	}
}

// ErrFindings is that check found errors; they are printed already.
type ErrFindings int

func (n ErrFindings) Error() string {
	return fmt.Sprintf("errors found: %d", int(n))
}

// summary counts the findings and gives the error for the exit code.
func (c *checker) summary() error {
	if _, err := fmt.Fprintf(c.out, "errors: %d, warnings: %d\n", c.errors, c.warnings); err != nil || c.writeErr != nil {
		return errors.Join(c.writeErr, err)
	}
	if c.errors > 0 {
		return ErrFindings(c.errors)
	}
	return nil
}
