package sequence

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Failover returns store with a guard against what asynchronous replication loses: a replica that was made the primary
// may lack the latest reservations of the old one, and its rows would give out again what they gave. So each row is raised
// by skip ids, 1 or more, before a server serves it for the first time after another one.
//
// Which server that was stands in a table beside the sequences, made when it is missing: see [ServersTableSQL]. A
// reservation is conditional on it, in the statement that reserves, and costs no further round trip. When it names another
// server, or none yet, one transaction raises the row and writes the record: so a failover costs skip ids once, over all
// processes, also those that start after it, and a crash in the middle leaves all as it was. No record counts as another
// server because it may be among what was lost.
//
// skip must be at least as large as what can be lost: see the documentation for how to choose it. A row that has no
// room for the skip gives ErrExhausted.
func Failover(store RowStore, skip int64) RowStore { return failover{store, skip} }

type failover struct {
	RowStore
	skip int64
}

// Reserve implements [Store].
func (f failover) Reserve(ctx context.Context, q Request) (Reservation, error) {
	q.FailoverSkip = f.skip
	return f.RowStore.Reserve(ctx, q)
}

// Release implements [Releaser]. It gives nothing back to another server than the one that served the row last.
func (f failover) Release(ctx context.Context, q Request, unused Range) (bool, error) {
	q.FailoverSkip = f.skip
	return f.RowStore.Release(ctx, q, unused)
}

// ServersTable is the name of the table that says which server served a row last: see [Failover].
const ServersTable = "seqgate_servers"

// ServersTableSQL returns the statement that creates [ServersTable] in the database of the sequences. The user of the
// sequences needs SELECT, INSERT and UPDATE on it. The names are quoted.
func ServersTableSQL(database string) string {
	return "CREATE TABLE IF NOT EXISTS " + qualified(database, ServersTable) +
		" (sequence VARCHAR(64), row_id BIGINT, server VARCHAR(255) NOT NULL, PRIMARY KEY (sequence, row_id))" +
		" ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
}

// errElsewhere: the server that is asked is not the one that served the row last. It never leaves the package alone.
var errElsewhere = errors.New("another server served the row last")

// here is the condition that the server that runs the statement served the row last. The server itself compares, since
// a proxy may lead the statements of one connection to several servers.
func (q Request) here() string {
	if q.FailoverSkip == 0 {
		return "TRUE"
	}
	return fmt.Sprintf("EXISTS (SELECT 1 FROM %s WHERE %s AND server = %s)", q.sqlServers(), q.whereServed(), serverSQL)
}

// andHere is here as a further condition of a statement.
func (q Request) andHere() string {
	if q.FailoverSkip == 0 {
		return ""
	}
	return " AND " + q.here()
}

func (q Request) sqlServers() string { return qualified(q.Database, ServersTable) }

func (q Request) whereServed() string {
	return fmt.Sprintf("sequence = %s AND row_id = %d", quotedText(q.Table), q.Row)
}

// quotedText writes a text as the sql_mode of [NewPool] reads it.
func quotedText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// reserveHere makes the attempt, after a failover if need be.
func (t table) reserveHere(ctx context.Context, how strategy) (Reservation, error) {
	res, err := how(t, ctx)
	var skipped int64
	// A table that is missing may be that of the servers.
	if t.FailoverSkip > 0 && (errors.Is(err, errElsewhere) || errors.Is(err, ErrNoTable)) {
		if skipped, err = t.moveHere(ctx); err != nil {
			return Reservation{}, err
		}
		res, err = how(t, ctx)
	}
	if errors.Is(err, errElsewhere) {
		err = fmt.Errorf("reserve ids of sequence %s: %w again", t.name(), err)
	}
	res.Server, res.Skipped = t.server(), skipped
	return res, err
}

// moveHere has the server serve the row from now on, and returns by how much the row was raised for that: 0 when another
// process did so meanwhile.
func (t table) moveHere(ctx context.Context) (skipped int64, err error) {
	skip := t.FailoverSkip
	t.FailoverSkip = 0 // the row is read and written wherever it was served
	if err := t.checkBinlog(ctx); err != nil {
		return 0, err
	}
	if err := t.createServers(ctx); err != nil {
		return 0, err
	}
	err = t.inTransaction(ctx, func() error {
		from, err := t.read(ctx, "FOR UPDATE") // first of all: it keeps the other processes out
		if err != nil {
			return err
		}
		moved, err := t.recordServer(ctx)
		if err != nil || !moved {
			return err
		}
		skipped = skip
		return t.skip(ctx, from, skip)
	})
	return skipped, err
}

// checkBinlog refuses a server that replicates statements: a replica would evaluate for itself which server it is, so
// that it records itself and does not reserve what the primary does.
func (t table) checkBinlog(ctx context.Context) error {
	var format string
	var logs bool
	err := t.conn.QueryRowContext(ctx, "SELECT @@binlog_format, @@log_bin").Scan(&format, &logs)
	switch {
	case isAnswer(err, 1193): // ER_UNKNOWN_SYSTEM_VARIABLE: it knows rows only
		return nil
	case err != nil:
		return t.failure("ask for the format of the binary log", err)
	case logs && format == "STATEMENT":
		return t.problem(ErrNotSequence, nil, "is on a server that replicates statements, with which failover_skip does not work; set binlog_format = ROW or MIXED there")
	}
	return nil
}

// skip raises the row, which is from and locked, by n ids.
func (t table) skip(ctx context.Context, from row, n int64) error {
	res, _, err := t.plan(from)
	if err != nil {
		return err
	}
	if res.First > t.last()-n {
		return t.problem(ErrExhausted, nil, "is served by another server than before and has no room to skip %d ids up to the last id %d; "+
			"make sure that next_id is above every id in use, and choose a smaller failover_skip", n, t.last())
	}
	return t.swapLocked(ctx, from, row{res.First + n, from.cache})
}

// recordServer writes the record of the row, and reports whether that changed it.
func (t table) recordServer(ctx context.Context) (bool, error) {
	_, err := t.conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (sequence, row_id, server) VALUES (%s, %d, %s)",
		t.sqlServers(), quotedText(t.Table), t.Row, serverSQL))
	if err == nil {
		return true, nil
	}
	if !isAnswer(err, 1062) { // ER_DUP_ENTRY
		return false, t.failure("record the server", err)
	}
	_, changed, err := t.write(ctx, fmt.Sprintf("UPDATE %s SET server = %[2]s WHERE %[3]s AND server <> %[2]s",
		t.sqlServers(), serverSQL, t.whereServed()))
	return changed, err
}

// createServers creates the table of the servers if it is missing.
func (t table) createServers(ctx context.Context) error {
	_, err := t.conn.ExecContext(ctx, "SELECT 1 FROM "+t.sqlServers()+" LIMIT 1")
	if err == nil {
		return nil
	}
	if !isAnswer(err, 1146) { // ER_NO_SUCH_TABLE
		return t.failure("look for the table "+ServersTable, err)
	}
	create := ServersTableSQL(t.Database)
	if _, err := t.conn.ExecContext(ctx, create); err != nil {
		return fmt.Errorf("create the table that failover_skip of sequence %s needs; a user who may should run: %s: %w", t.name(), create, err)
	}
	return nil
}
