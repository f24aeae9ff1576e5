package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

const (
	autoIncrement = "id BIGINT PRIMARY KEY AUTO_INCREMENT"
	plainID       = "id BIGINT PRIMARY KEY"
)

// nativePair runs cases twice: on a native AUTO_INCREMENT column, and through
// seqgate on a column of a sequence.
type nativePair struct {
	native, through *sql.DB
	column          string // the id's, through seqgate
}

func newNativePair(t *testing.T, s *servertest.Server, column, params string) *nativePair {
	t.Helper()
	g := newGate(t, s, gateOptions{})
	return &nativePair{openDSN(t, nativeDSN(s, s.NewDatabase(t), params)), g.open(t, params), column}
}

// eachNativePair runs f at the same time for an id's column that is AUTO_INCREMENT itself,
// and for one that is not.
func eachNativePair(t *testing.T, s *servertest.Server, params string, f func(*testing.T, *nativePair)) {
	t.Helper()
	for name, column := range map[string]string{"AUTO_INCREMENT": autoIncrement, "plain": plainID} {
		t.Run(name+params, func(t *testing.T) {
			t.Parallel()
			f(t, newNativePair(t, s, column, params))
		})
	}
}

// open makes the table of a case on both sides, runs what the case has before its
// statement, and gives the connections that did. The sequence's ids begin where the
// native column's do.
func (w *nativePair) open(t *testing.T, tt insertCase) (native, through *sql.Conn) {
	t.Helper()
	const rest = ", u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)"
	exec(t, w.native, "CREATE TABLE "+tt.table+" ("+autoIncrement+rest)
	exec(t, w.through, "CREATE TABLE "+tt.table+" ("+w.column+rest)
	native, through = conn(t, w.native), conn(t, w.through)
	exec(t, native, tt.setup...)
	exec(t, through, tt.setup...)
	next := max(1, value[int64](t, native, "SELECT COALESCE(MAX(id), 0) + 1 FROM "+tt.table))
	createSequence(t, w.through, tt.table+"_seq", next, 10)
	return native, through
}

// compare runs a case on both sides and reports what differs; but may change what is
// expected natively, and then what is got.
func (w *nativePair) compare(t *testing.T, native, through *sql.Conn, tt insertCase, but func(want, got *insertOutcome)) {
	t.Helper()
	want, got := runInsert(t, native, tt), runInsert(t, through, tt)
	if but != nil {
		but(&want, &got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-native +seqgate):\n%s", tt.stmt, diff)
	}
}

// numbered gives a case a table of its own.
func numbered(tt insertCase, i int) insertCase { return tt.on(fmt.Sprintf("t%d", i)) }

// upserts gives the cases that the capability CLIENT_FOUND_ROWS makes a difference to:
// an INSERT tells by it of a row that it found and did not change. See
// https://dev.mysql.com/doc/c-api/9.0/en/mysql-affected-rows.html.
func upserts(cases []insertCase) (some []insertCase) {
	for _, tt := range cases {
		if strings.Contains(tt.stmt, "ON DUPLICATE KEY") {
			some = append(some, tt)
		}
	}
	return some
}
