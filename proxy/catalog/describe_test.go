package catalog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	client "github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// What a server says of a table counts only when all of it is of one table.
func TestDescribe(t *testing.T) {
	t.Parallel()
	table, other := []driver.Value{"t", "BASE TABLE", "InnoDB"}, []driver.Value{"t", "BASE TABLE", "MyISAM"}
	id, a := []driver.Value{"id", "bigint", "PRI"}, []driver.Value{"a", "int", ""}
	type answers = []any // readings, or errors; or what SHOW COLUMNS gives
	readings := func(first, second *reading) answers {
		if first.table == nil {
			return answers{first} // nothing to compare
		}
		return answers{first, second}
	}
	whole, torn, none := &reading{table, id}, &reading{table: table}, &reading{}
	killed := &client.MySQLError{Number: mysql.ER_QUERY_INTERRUPTED}
	absent := &client.MySQLError{Number: mysql.ER_NO_SUCH_TABLE}
	invalid := &client.MySQLError{Number: mysql.ER_VIEW_INVALID}
	join := func(all ...answers) (joined answers) {
		for _, each := range all {
			joined = append(joined, each...)
		}
		return joined
	}
	for _, test := range []struct {
		name    string
		answers answers
		columns string // that are found
		exists  bool
		err     uint16
	}{
		{"whole", readings(whole, whole), "id", true, 0},
		{"not there", join(readings(none, none), answers{absent}), "", false, 0},
		{"no right", join(readings(none, none), answers{&client.MySQLError{Number: mysql.ER_TABLEACCESS_DENIED_ERROR}}), "", false, 0},
		{"no right to any column", join(readings(torn, torn), answers{[]string{}}), "", false, 0},
		{"not there at first", join(readings(none, none), answers{[]string{"id"}}, readings(whole, whole)), "id", true, 0},
		{"without columns at first", join(readings(torn, torn), answers{absent}, readings(whole, whole)), "id", true, 0},
		{"without columns, and gone", join(readings(torn, torn), answers{absent}, readings(none, none), answers{absent}), "", false, 0},
		{"columns without a table", join(readings(&reading{columns: id}, &reading{columns: id}), readings(whole, whole)), "id", true, 0},
		{"another engine", join(readings(whole, &reading{other, id}), readings(whole, whole)), "id", true, 0},
		{"other columns", join(readings(whole, &reading{table, a}), readings(&reading{table, a}, &reading{table, a})), "a", true, 0},
		{"dropped in between", join(readings(whole, none), readings(whole, whole)), "id", true, 0},
		{"killed", join(answers{killed, killed}, readings(whole, whole)), "id", true, 0},
		{"killed when it seems not to be there", join(readings(none, none), answers{killed}, readings(whole, whole)), "id", true, 0},
		{"killed again and again", answers{killed, killed, killed, killed, killed, killed}, "", false, mysql.ER_TABLE_DEF_CHANGED},
		{"a broken view", join(readings(torn, torn), answers{invalid}), "", false, mysql.ER_VIEW_INVALID},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := sql.OpenDB(&scripted{answers: test.answers})
			defer db.Close()
			found, err := Describe(t.Context(), db, "d", "t")
			var names []string
			for _, c := range found.Columns {
				names = append(names, c.Name)
			}
			if code := clientCode(err); found.Exists != test.exists || strings.Join(names, " ") != test.columns || code != test.err {
				t.Errorf("got exists %v, columns %v, error %v; want %v, %q, error %d", found.Exists, names, err, test.exists, test.columns, test.err)
			}
		})
	}
}

// A table that is another one at each look is an error, not one without a sequence.
func TestDescribeGivesUp(t *testing.T) {
	t.Parallel()
	var answers []any
	for range describeAttempts {
		answers = append(answers, &reading{table: []driver.Value{"t", "BASE TABLE", "InnoDB"}}, &reading{})
	}
	db := sql.OpenDB(&scripted{answers: answers})
	defer db.Close()
	_, err := Describe(t.Context(), db, "d", "t")
	var told *mysql.MyError
	if !errors.As(err, &told) || told.Code != mysql.ER_TABLE_DEF_CHANGED || told.State != "HY000" || !strings.Contains(told.Message, "retry") {
		t.Errorf("got %v, want 1412 (HY000) that says to retry", err)
	}
}

// What stands beside a table is a sequence, or none, never a guess.
func TestDescribeSequence(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "next_id", "cache"}
	killed := &client.MySQLError{Number: mysql.ER_QUERY_INTERRUPTED}
	for _, test := range []struct {
		name     string
		answers  []any
		sequence bool
		err      uint16
	}{
		{"a sequence", []any{columns}, true, 0},
		{"none", []any{&client.MySQLError{Number: mysql.ER_NO_SUCH_TABLE}}, false, 0},
		{"killed", []any{killed, killed, columns}, true, 0},
		{"killed for good", []any{killed, killed, killed, killed, killed, killed}, false, mysql.ER_TABLE_DEF_CHANGED},
		{"a name that no table has", []any{&client.MySQLError{Number: mysql.ER_TOO_LONG_IDENT}}, false, 0},
		{"a broken view", []any{&client.MySQLError{Number: mysql.ER_VIEW_INVALID}}, false, 0},
		{"crashed", []any{&client.MySQLError{Number: mysql.ER_CRASHED_ON_USAGE}}, false, mysql.ER_CRASHED_ON_USAGE},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := sql.OpenDB(&scripted{answers: test.answers})
			defer db.Close()
			found, err := DescribeSequence(t.Context(), db, "d", "t_seq")
			if code := clientCode(err); found.LooksLikeSequence() != test.sequence || code != test.err {
				t.Errorf("got a sequence: %v, error %v; want %v, error %d", found.LooksLikeSequence(), err, test.sequence, test.err)
			}
		})
	}
}

func clientCode(err error) uint16 {
	if err == nil {
		return 0
	}
	var own *mysql.MyError
	if errors.As(err, &own) {
		return own.Code
	}
	number, _, _ := sequence.ServerError(err)
	return number
}

// reading is what a server says of a table: its name, kind and engine, and a column's name, type and key.
type reading struct{ table, columns []driver.Value }

// scripted is a server with prepared answers.
type scripted struct{ answers []any }

func (s *scripted) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *scripted) Driver() driver.Driver                        { return nil }
func (s *scripted) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (s *scripted) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (s *scripted) Close() error                                 { return nil }

func (s *scripted) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	answer := s.answers[0]
	s.answers = s.answers[1:]
	rows := &scriptedRows{width: 8}
	switch answer := answer.(type) {
	case error:
		return nil, answer
	case []string:
		rows.width = 6
		for _, name := range answer {
			rows.rows = append(rows.rows, []driver.Value{name, "", "", "", "", ""})
		}
	case *reading:
		if answer.table != nil {
			rows.rows = append(rows.rows, append(append([]driver.Value{int64(0)}, answer.table...), "", "", "", true))
		}
		if answer.columns != nil {
			rows.rows = append(rows.rows, append(append([]driver.Value{int64(1)}, answer.columns...), "", "", "", false))
		}
	}
	return rows, nil
}

type scriptedRows struct {
	rows  [][]driver.Value
	width int
}

func (r *scriptedRows) Columns() []string { return make([]string, r.width) }
func (r *scriptedRows) Close() error      { return nil }

func (r *scriptedRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}
