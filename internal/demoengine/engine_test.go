//go:build !slim

package demoengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	createUsers    = "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(64))"
	createUsersSeq = "CREATE TABLE users_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'"
	seedUsersSeq   = "INSERT INTO users_seq VALUES (0, 1, 10)"
)

// newEngine starts an engine with a database main, a table users and its sequence.
func newEngine(t *testing.T) *Engine {
	t.Helper()
	e, err := Start(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if err := e.Exec("CREATE DATABASE main", "USE main", createUsers, createUsersSeq, seedUsersSeq); err != nil {
		t.Fatal(err)
	}
	return e
}

// connect opens one connection of user to the database main.
func connect(t *testing.T, e *Engine, user, params string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s@tcp(%s)/main?%s", user, e.Addr(), params))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func run(t *testing.T, c *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func queryInt(t *testing.T, c *sql.Conn, query string) int64 {
	t.Helper()
	var n int64
	if err := c.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func errorNumber(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// Half of the writers use transactions.
func TestNoUpdateIsLost(t *testing.T) {
	const writers, inserts = 8, 200
	e := newEngine(t)
	ctx, stopReading := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	for _, q := range []string{"SELECT COUNT(*) FROM users", "SELECT COUNT(*) FROM information_schema.tables"} {
		c := connect(t, e, "root", "")
		reading.Go(func() {
			for ctx.Err() == nil {
				if err := c.QueryRowContext(t.Context(), q).Scan(new(int)); err != nil {
					t.Errorf("%s: %v", q, err)
				}
			}
		})
	}
	var writing errgroup.Group
	for w := range writers {
		c := connect(t, e, "root", "")
		writing.Go(func() error {
			for i := range inserts {
				if err := insert(t.Context(), c, w%2 == 0, w*inserts+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writing.Wait(); err != nil {
		t.Error(err)
	}
	stopReading()
	reading.Wait()
	if got, want := queryInt(t, connect(t, e, "root", ""), "SELECT COUNT(*) FROM users"), int64(writers*inserts); got != want {
		t.Errorf("rows after %d inserts: got %d, want %d", want, got, want)
	}
}

func insert(ctx context.Context, c *sql.Conn, inTransaction bool, id int) error {
	const query = "INSERT INTO users (id, name) VALUES (?, ?)"
	if !inTransaction {
		_, err := c.ExecContext(ctx, query, id, fmt.Sprint(id))
		return err
	}
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, query, id, fmt.Sprint(id)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Sequence refills must go on while a client's transaction is open, and the transaction must not
// write back an older next_id, even if it has read or listed the sequence table.
func TestSequencesDuringTransactions(t *testing.T) {
	const users, refills, step = 8, 50, 10
	e := newEngine(t)
	reserved := make(chan int64, users*refills)
	var refilling errgroup.Group
	for range users {
		c := connect(t, e, SequenceUser, "")
		refilling.Go(func() error {
			for range refills {
				first, err := reserve(t.Context(), c, step)
				if err != nil {
					return err
				}
				reserved <- first
			}
			return nil
		})
	}
	holder := connect(t, e, "root", "")
	seen := make(map[int64]bool)
	for i := range refills {
		run(t, holder, "BEGIN", fmt.Sprintf("INSERT INTO users VALUES (%d, '%d')", i, i))
		queryInt(t, holder, "SELECT next_id FROM users_seq WHERE id = 0")
		queryInt(t, holder, "SELECT COUNT(*) FROM information_schema.tables")
		for range users { // each transaction is open while sequences move on
			first := <-reserved
			if seen[first] {
				t.Errorf("segment [%d, %d) was reserved twice", first, first+step)
			}
			seen[first] = true
		}
		run(t, holder, "COMMIT")
	}
	if err := refilling.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := queryInt(t, holder, "SELECT next_id FROM users_seq"), int64(1+users*refills*step); got != want {
		t.Errorf("next_id: got %d, want %d", got, want)
	}
	if got, want := queryInt(t, holder, "SELECT COUNT(*) FROM users"), int64(refills); got != want {
		t.Errorf("rows of the transactions: got %d, want %d", got, want)
	}
}

// Both sides change a sequence table: clients and refills must not undo each other's updates.
func TestSidesShareSequenceTables(t *testing.T) {
	const connections, refills = 4, 50
	e := newEngine(t)
	var refilling errgroup.Group
	for _, user := range []string{"root", SequenceUser} {
		for range connections {
			c := connect(t, e, user, "")
			refilling.Go(func() error {
				for range refills {
					if _, err := reserve(t.Context(), c, 1); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	if err := refilling.Wait(); err != nil {
		t.Fatal(err)
	}
	got := queryInt(t, connect(t, e, "root", ""), "SELECT next_id FROM users_seq")
	if want := int64(1 + 2*connections*refills); got != want {
		t.Errorf("next_id: got %d, want %d", got, want)
	}
}

func reserve(ctx context.Context, c *sql.Conn, step int64) (first int64, err error) {
	for {
		if err := c.QueryRowContext(ctx, "SELECT next_id FROM users_seq WHERE id = 0").Scan(&first); err != nil {
			return 0, err
		}
		r, err := c.ExecContext(ctx, fmt.Sprintf(
			"UPDATE users_seq SET next_id = %d WHERE id = 0 AND next_id = %d", first+step, first))
		if err != nil {
			return 0, err
		}
		if n, err := r.RowsAffected(); n == 1 || err != nil {
			return first, err
		}
	}
}

// Transactions of SequenceUser wait for each other: SELECT ... FOR UPDATE locks.
func TestSequenceTransactionsExcludeEachOther(t *testing.T) {
	const users, refills = 4, 50
	e := newEngine(t)
	var refilling errgroup.Group
	for range users {
		c := connect(t, e, SequenceUser, "")
		refilling.Go(func() error {
			for range refills {
				tx, err := c.BeginTx(t.Context(), nil)
				if err != nil {
					return err
				}
				var next int64
				if err := tx.QueryRow("SELECT next_id FROM users_seq WHERE id = 0 FOR UPDATE").Scan(&next); err != nil {
					return err
				}
				if _, err := tx.Exec("UPDATE users_seq SET next_id = ? WHERE id = 0", next+1); err != nil {
					return err
				}
				if err := tx.Commit(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := refilling.Wait(); err != nil {
		t.Fatal(err)
	}
	got := queryInt(t, connect(t, e, "root", ""), "SELECT next_id FROM users_seq")
	if want := int64(1 + users*refills); got != want {
		t.Errorf("next_id: got %d, want %d", got, want)
	}
}

func TestExec(t *testing.T) {
	e := newEngine(t)
	err := e.Exec("USE main", "INSERT INTO users VALUES (1, 'a')", "INSERT INTO users VALUES (1, 'b')", "INSERT INTO users VALUES (2, 'c')")
	if err == nil {
		t.Error("Exec with a duplicate key: got no error")
	}
	if got := queryInt(t, connect(t, e, "root", ""), "SELECT COUNT(*) FROM users"); got != 1 {
		t.Errorf("rows: got %d, want 1 (that before the failing statement)", got)
	}
}

func TestUsers(t *testing.T) {
	e := newEngine(t)
	for _, tc := range []struct {
		login string
		want  bool
	}{{"root", true}, {SequenceUser, true}, {"root:secret", false}, {"somebody", false}} {
		db, err := sql.Open("mysql", tc.login+"@tcp("+e.Addr()+")/main")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PingContext(t.Context()); (err == nil) != tc.want {
			t.Errorf("login %s: got error %v, want success %t", tc.login, err, tc.want)
		}
		db.Close()
	}
}

func TestClose(t *testing.T) {
	e := newEngine(t)
	holder, waiter := connect(t, e, "root", ""), connect(t, e, "root", "")
	run(t, holder, "BEGIN", "INSERT INTO users VALUES (1, 'a')")
	waited := make(chan error)
	go func() {
		_, err := waiter.ExecContext(t.Context(), "INSERT INTO users VALUES (2, 'b')")
		waited <- err
	}()
	for range 2 {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := <-waited; err == nil {
		t.Error("a statement that waits at Close: got no error")
	}
	if err := holder.PingContext(t.Context()); err == nil {
		t.Error("ping after Close: got no error")
	}
}
