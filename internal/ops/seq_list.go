package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// List lists all sequences. Servers that are away do not keep it from listing the others.
func (c *Cluster) List(ctx context.Context, asJSON bool, out io.Writer) (err error) {
	reached, away := c.reach()
	list := c.list(ctx, bindings(c.cfg, reached))
	if asJSON {
		err = printJSON(out, list)
	} else {
		err = printTable(out, list)
	}
	return errors.Join(err, away)
}

// listed is a sequence in the list; its JSON is what --json prints.
type listed struct {
	Keyspace string         `json:"keyspace"`
	Table    string         `json:"table"`
	Kind     string         `json:"kind"`    // row, striped or keyed
	NextID   *int64         `json:"next_id"` // the least of a striped one; null: keyed, or cannot be read
	Cache    *int64         `json:"cache"`
	Fills    []listedColumn `json:"fills"`
	Problems []string       `json:"problems"`

	name   TableName
	layout string // of what is not one row; "" if not known
}

// listedColumn is a column that a sequence fills.
type listedColumn struct {
	Keyspace string   `json:"keyspace"`
	Table    string   `json:"table"`
	Column   string   `json:"column"`
	Type     string   `json:"type,omitempty"`
	MaxID    *int64   `json:"max_id"` // the largest in use; null: cannot be read
	Used     *float64 `json:"used"`   // share of the type's ids that next_id has passed, 0 to 1

	name string
}

func (l *listed) problem(format string, args ...any) {
	l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
}

// list reads all sequences, and what they fill, at the same time as far as the servers' pools allow.
func (c *Cluster) list(ctx context.Context, all []binding) []listed {
	list := make([]listed, len(all))
	var group sync.WaitGroup
	for i, b := range all {
		l := &list[i]
		*l = listed{Keyspace: b.sequence.Keyspace, Table: b.sequence.Table, Fills: []listedColumn{}, Problems: []string{}, name: b.sequence}
		group.Go(func() { c.read(ctx, b, l) })
	}
	group.Wait()
	return list
}

func (c *Cluster) read(ctx context.Context, b binding, l *listed) {
	var row *SeqRow
	switch {
	case c.isStriped(b.sequence):
		c.readStripes(ctx, l)
	case c.isKeyed(b.sequence):
		c.readSections(ctx, l)
	default:
		row = c.readOneRow(ctx, l)
	}
	for _, f := range b.fills {
		column, err := c.readColumn(ctx, f, row)
		if err != nil {
			l.problem("%s: %v", column.name, err)
		}
		l.Fills = append(l.Fills, column)
	}
}

// readStripes fills in a sequence that lies in stripes on several servers.
func (c *Cluster) readStripes(ctx context.Context, l *listed) {
	l.Kind = "striped"
	stripes, err := c.stripes(ctx, l.name)
	switch {
	case err != nil:
		l.problem("%s: %v", l.name, err)
	case len(stripes) == 0:
		l.problem("%s: no server has a stripe: run seqgate init", l.name)
	}
	if len(stripes) == 0 {
		return
	}
	next := leastNext(stripes)
	l.NextID, l.Cache, l.layout = &next, &stripes[0].Cache, spread(stripes)
}

// readSections fills in a sequence that counts by key.
func (c *Cluster) readSections(ctx context.Context, l *listed) {
	l.Kind = "keyed"
	s, err := c.server(l.Keyspace)
	if err != nil {
		l.problem("%s: %v", l.name, err)
		return
	}
	rows, err := keyed.Rows(ctx, s.DB, s.database, l.Table)
	if err != nil {
		l.problem("%s: %v", l.name, err)
		return
	}
	l.layout = fmt.Sprintf("by key, %d sections", len(rows))
}

// readOneRow fills in a sequence of one row, which it returns as far as there is one.
func (c *Cluster) readOneRow(ctx context.Context, l *listed) *SeqRow {
	l.Kind = "row"
	row, faults := c.readRow(ctx, l.name)
	for _, fault := range faults {
		l.problem("%s: %v", l.name, fault)
	}
	if row != nil && row.next.Valid {
		l.NextID = &row.next.Int64
	}
	if row != nil && row.cache.Valid {
		l.Cache = &row.cache.Int64
	}
	return row
}

// readRow returns the row as far as there is one, and what is wrong with the sequence.
func (c *Cluster) readRow(ctx context.Context, name TableName) (row *SeqRow, faults []error) {
	s, err := c.server(name.Keyspace)
	if err != nil {
		return nil, []error{err}
	}
	t, ok := s.table(name.Table)
	if !ok {
		return nil, []error{errors.New("the sequence table is missing: run seqgate init")}
	}
	quoted := s.quoted(name.Table)
	for _, fault := range sequenceFaults(t, quoted) {
		faults = append(faults, fmt.Errorf("the table %s", fault))
	}
	if !hasSequenceColumns(t) {
		return nil, faults
	}
	rows, err := s.readSequence(ctx, name.Table)
	if err != nil {
		return nil, append(faults, err)
	}
	for _, fault := range rowFaults(quoted, rows, maxValue(t)) {
		faults = append(faults, errors.New(fault))
	}
	if len(rows) == 1 {
		row = &rows[0]
	}
	return row, faults
}

// readColumn returns a column with its ids in use, and what is wrong with it for a sequence with that row; a row of nil
// says nothing.
func (c *Cluster) readColumn(ctx context.Context, f filled, row *SeqRow) (listedColumn, error) {
	l := listedColumn{Keyspace: f.Keyspace, Table: f.Table, Column: f.column, name: f.String() + "." + printable(f.column)}
	at, err := c.serversOf(f.TableName)
	if err != nil {
		return l, err
	}
	var column catalog.Column // of all shards' the narrowest
	var used UsedIDs          // on all shards
	for _, s := range at {
		here, ids, err := s.readColumn(ctx, f)
		if err != nil {
			return l, s.where(err)
		}
		if column.Name == "" || here.MaxID() < column.MaxID() {
			column = here
		}
		used = UsedIDs{max(used.Max, ids.Max), max(used.Counter, ids.Counter)}
	}
	l.Type, l.MaxID = column.ShortType(), &used.Max
	if row == nil || !row.next.Valid {
		return l, nil
	}
	next := max(row.next.Int64, 1)
	share := min(1, float64(next-1)/float64(column.MaxID()))
	l.Used = &share
	if fault, _ := rangeFault(next, used, column); fault != "" {
		err = errors.New(fault)
	}
	return l, err
}

// readColumn returns a column that a sequence fills, with the ids in use on this server.
func (s *Server) readColumn(ctx context.Context, f filled) (column catalog.Column, used UsedIDs, err error) {
	t, ok := s.table(f.Table)
	if !ok {
		return column, used, errors.New("the table does not exist")
	}
	if column, err = filledColumn(t, f.column); err != nil {
		return column, used, err
	}
	used, err = s.ReadUsedIDs(ctx, f.Table, column)
	return column, used, err
}

// where adds the shard to an error, if there is one to name.
func (s *Server) where(err error) error {
	if s.Shard == "" {
		return err
	}
	return fmt.Errorf("shard %s: %w", s.Shard, err)
}

func printJSON(w io.Writer, list []listed) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}

// printTable prints a line for each column that is filled, and below all of them what is wrong.
func printTable(w io.Writer, list []listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SEQUENCE\tKIND\tNEXT_ID\tCACHE\tFILLS\tMAX\tUSED")
	var problems []string
	for _, l := range list {
		first := fmt.Sprintf("%s\t%s\t%s\t%s", l.name, cmp.Or(l.layout, l.Kind), OrDash(l.NextID), OrDash(l.Cache))
		if len(l.Fills) == 0 {
			fmt.Fprintf(t, "%s\t-\t-\t-\n", first)
		}
		for _, f := range l.Fills {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", first, f.name, OrDash(f.MaxID), f.usedText())
			first = "\t\t\t"
		}
		problems = append(problems, l.Problems...)
	}
	if err := t.Flush(); err != nil || len(problems) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\nproblems:\n  %s\n", strings.ReplaceAll(strings.Join(problems, "\n"), "\n", "\n  "))
	return err
}

func OrDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// usedText is the share of the type in percent.
func (l listedColumn) usedText() string {
	if l.Used == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%% of %s", *l.Used*100, l.Type)
}
