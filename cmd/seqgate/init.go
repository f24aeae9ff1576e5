package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/vschema"
)

const initAbout = `Makes the sequence tables that are missing, each with its row, and raises next_id above the ids in use: above
MAX(column) and the AUTO_INCREMENT counter. It never lowers anything; a second call has nothing to do.

With a vschema, these are the sequences that it names. Without one, those of all tables t that have a t_seq beside
them, and a new t_seq for each TABLE. Rows that reach the servers past seqgate meanwhile may take ids that the sequence
gives later: run it before clients use seqgate, or again when they all do.`

// runInit is `seqgate init`.
func runInit(ctx context.Context, args []string, stdout, _ io.Writer) (err error) {
	var from source
	i := initializer{out: stdout}
	fs := newFlags("init", "--config FILE | --upstream DSN [--cache N] [--dry-run] [TABLE ...]", initAbout, stdout)
	from.flags(fs)
	fs.Int64Var(&i.cache, "cache", 1000, "ids that a new sequence reserves at once, at least `N` = 1")
	fs.BoolVar(&i.dryRun, "dry-run", false, "print the SQL and run none of it")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if i.cache < 1 {
		return usagef("--cache %d: give a number from 1", i.cache)
	}
	if i.cfg, err = from.load(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.servers.close()) }()
	for _, k := range i.cfg.Keyspaces {
		s, err := connect(ctx, k)
		if err != nil {
			return err
		}
		i.servers = append(i.servers, s)
	}
	return i.run(ctx, fs.Args())
}

// initializer makes and raises sequences.
type initializer struct {
	cfg     *Config
	servers servers
	cache   int64
	dryRun  bool
	out     io.Writer
}

// run does every sequence that it can, and returns what went wrong with the others.
func (i *initializer) run(ctx context.Context, args []string) error {
	list, err := i.withNamed(bindings(i.cfg, i.servers), args)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return usagef("no sequences: name the tables to make sequences for, or a vschema in the configuration")
	}
	var errs []error
	for _, b := range list {
		if err := i.sequence(ctx, b); err != nil {
			errs = append(errs, fmt.Errorf("sequence %s: %w", b.sequence, err))
		}
	}
	return errors.Join(errs...)
}

// withNamed adds a binding by the convention for each table named on the command line. In a vschema they must be bound.
func (i *initializer) withNamed(list []binding, names []string) ([]binding, error) {
	for _, arg := range names {
		name, s, err := i.find(arg)
		if err != nil {
			return nil, err
		}
		if bound(list, name) {
			continue
		}
		if i.cfg.VSchema != nil {
			return nil, usagef(`the vschema binds no sequence to %s: write "auto_increment": {"column": "id", "sequence": "%s"} there`,
				name, name.table+seqSuffix)
		}
		t, ok := s.tables[name.table]
		if !ok {
			return nil, usagef("there is no table %s", name)
		}
		column, why := t.idColumn()
		if strings.HasSuffix(name.table, seqSuffix) {
			why = "by its name it is a sequence itself"
		}
		if why != "" {
			return nil, usagef("table %s cannot be filled from a sequence by the convention: %s", name, why)
		}
		list = append(list, binding{tableName{name.keyspace, name.table + seqSuffix}, []filled{{name, column.name}}})
	}
	return list, nil
}

func bound(list []binding, name tableName) bool {
	return slices.ContainsFunc(list, func(b binding) bool {
		return slices.ContainsFunc(b.fills, func(f filled) bool { return f.tableName == name })
	})
}

// find resolves a table named as table or keyspace.table.
func (i *initializer) find(arg string) (tableName, *server, error) {
	name := tableName{i.cfg.DefaultKeyspace, arg}
	if s := i.servers.of(name.keyspace); s != nil && s.tables[arg] != nil {
		return name, s, nil
	}
	if keyspace, table, ok := strings.Cut(arg, "."); ok {
		name = tableName{keyspace, table}
	}
	s := i.servers.of(name.keyspace)
	if s == nil {
		return name, nil, usagef("table %s: there is no keyspace %q: write keyspace.table", arg, name.keyspace)
	}
	return name, s, nil
}

// sequence makes one sequence if it is missing, and raises it.
func (i *initializer) sequence(ctx context.Context, b binding) error {
	s := i.servers.of(b.sequence.keyspace)
	quoted := s.quoted(b.sequence.table)
	t, exists := s.tables[b.sequence.table]
	if exists {
		if faults := t.sequenceFaults(quoted); len(faults) > 0 {
			return errors.New("the table " + strings.Join(faults, ", and "))
		}
	} else if err := i.execute(ctx, s, createSequence(quoted)); err != nil {
		return err
	}
	// The ids in use are read after the table is there: from then on seqgate fills from it, or refuses.
	seed, err := i.seed(ctx, b)
	if err != nil {
		return err
	}
	var rows []seqRow
	if exists || !i.dryRun {
		if rows, err = s.readSequence(ctx, b.sequence.table); err != nil {
			return err
		}
	}
	statements, err := raise(quoted, rows, seed, i.cache)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := i.execute(ctx, s, statement); err != nil {
			return err
		}
	}
	if exists && len(statements) == 0 {
		return i.note("%s: nothing to do, next_id is %d", b.sequence, rows[0].next.Int64)
	}
	return nil
}

// seed is the first id above those of every column that the sequence fills.
func (i *initializer) seed(ctx context.Context, b binding) (int64, error) {
	seed := int64(1)
	for _, f := range b.fills {
		next, err := i.firstFree(ctx, f)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", f.tableName, err)
		}
		seed = max(seed, next)
	}
	return seed, nil
}

func (i *initializer) firstFree(ctx context.Context, f filled) (int64, error) {
	s := i.servers.of(f.keyspace)
	t, ok := s.tables[f.table]
	if !ok {
		return 1, i.note("%s does not exist yet: its ids start at 1", f.tableName)
	}
	c, ok := t.column(f.column)
	if !ok {
		return 0, fmt.Errorf("there is no column %s: %s", f.column, vschema.Suggest(f.column, columnNames(t.columns)))
	}
	if c.maxID() == 0 {
		return 0, fmt.Errorf("the column %s is a %s, which holds no sequence's ids: make it a BIGINT", c.name, c.dataType)
	}
	used, err := s.readUsedIDs(ctx, f.table, c.name)
	if err != nil {
		return 0, err
	}
	next, err := used.next()
	if err == nil && next > c.maxID() {
		err = fmt.Errorf("the ids are used up: %s is a %s, which ends at %d: make it a BIGINT", c.name, c.typeName(), c.maxID())
	}
	return next, err
}

func columnNames(columns []dbColumn) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// createSequence is Vitess's table. The engine is named because refills rely on its row locks.
func createSequence(quoted string) string {
	return "CREATE TABLE IF NOT EXISTS " + quoted +
		" (`id` INT PRIMARY KEY, `next_id` BIGINT, `cache` BIGINT) ENGINE = InnoDB COMMENT '" + sequenceComment + "'"
}

// raise is the SQL that brings a sequence's row to at least seed: none when it is there already. Each statement is right
// also when another process has done the same meanwhile.
func raise(quoted string, rows []seqRow, seed, cache int64) ([]string, error) {
	switch {
	case len(rows) > 1:
		return nil, fmt.Errorf("there are %d rows with id = 0: leave the one with the largest next_id", len(rows))
	case len(rows) == 0:
		return []string{fmt.Sprintf("INSERT INTO %s (`id`, `next_id`, `cache`) VALUES (0, %d, %d) ON DUPLICATE KEY UPDATE `next_id` = GREATEST(COALESCE(`next_id`, 0), %[2]d)",
			quoted, seed, cache)}, nil
	case rows[0].next.Int64 == math.MaxInt64:
		return nil, errors.New("the ids are used up")
	}
	var statements []string
	if r := rows[0]; !r.next.Valid || r.next.Int64 < seed {
		statements = append(statements, fmt.Sprintf("UPDATE %s SET `next_id` = GREATEST(COALESCE(`next_id`, 0), %d) WHERE `id` = 0", quoted, seed))
	}
	if r := rows[0]; !r.cache.Valid || r.cache.Int64 < 1 {
		statements = append(statements, fmt.Sprintf("UPDATE %s SET `cache` = %d WHERE `id` = 0 AND COALESCE(`cache`, 0) < 1", quoted, cache))
	}
	return statements, nil
}

// execute prints a statement, and runs it unless this is a dry run.
func (i *initializer) execute(ctx context.Context, s *server, statement string) error {
	if _, err := fmt.Fprintln(i.out, statement+";"); err != nil || i.dryRun {
		return err
	}
	_, err := s.conn.ExecContext(ctx, statement)
	return err
}

// note prints a remark as an SQL comment, so that the output stays SQL.
func (i *initializer) note(format string, args ...any) error {
	_, err := fmt.Fprintln(i.out, "-- "+fmt.Sprintf(format, args...))
	return err
}
