package main

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// wantErrno checks that a statement fails with a number and a text.
func wantErrno(t *testing.T, db *sql.DB, number uint16, text, statement string) {
	t.Helper()
	_, err := db.Exec(statement)
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != number || !strings.Contains(e.Message, text) {
		t.Errorf("%s: got %v, want error %d with %q", statement, err, number, text)
	}
}

// A sequence that is made beside a table goes on above the ids in use there.
func TestCreateSequenceAboveIDs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if strings.Contains(s.Version, "MariaDB") {
			t.Skip("MariaDB has its own CREATE SEQUENCE")
		}
		const vschema = `{"keyspaces": {"main": {"tables": {"inv_seq": {"type": "sequence"}, "alone": {"type": "sequence"},
			"inv": {"auto_increment": {"column": "id", "sequence": "inv_seq"}}}}}}`
		for name, text := range map[string]string{"convention": "", "vschema": vschema} {
			t.Run(name, func(t *testing.T) {
				p := newPlace(t, s, "", "CREATE TABLE inv (id BIGINT NOT NULL AUTO_INCREMENT, who VARCHAR(10), KEY(id))",
					"INSERT INTO inv(who) VALUES ('n1'), ('n2')")
				db := serveDDL(t, p, text, "")
				last := func(want int64) {
					t.Helper()
					if got := query1[int64](t, db, "SELECT id FROM inv ORDER BY id DESC LIMIT 1"); got != want {
						t.Errorf("id %d, want %d", got, want)
					}
				}
				wantErrno(t, db, 1210, "write START WITH 3", "CREATE SEQUENCE inv_seq START WITH 2")
				wantErrno(t, db, 1210, "past MAXVALUE 2", "CREATE SEQUENCE inv_seq MAXVALUE 2")
				run1(t, db, "CREATE SEQUENCE inv_seq", "CREATE SEQUENCE IF NOT EXISTS inv_seq START WITH 1")
				wantErrno(t, db, 1050, "already exists", "CREATE SEQUENCE inv_seq START WITH 1")
				run1(t, db, "INSERT INTO inv(who) VALUES ('s1')")
				last(3)
				if got := query1[int64](t, db, "SELECT NEXT VALUE FROM inv_seq"); got != 4 {
					t.Errorf("value %d, want 4", got)
				}
				// What this process reserved counts, whoever has it by now.
				run1(t, db, "DROP TABLE inv_seq", "CREATE SEQUENCE inv_seq CACHE 10", "INSERT INTO inv(who) VALUES ('s2')")
				last(1003)
				run1(t, db, "CREATE SEQUENCE alone", "SELECT NEXT VALUE FROM alone", "DROP SEQUENCE alone", "CREATE SEQUENCE alone")
				if got := query1[int64](t, db, "SELECT NEXT VALUE FROM alone"); got != 1 {
					t.Errorf("a sequence that fills nothing begins at %d", got)
				}
				wantErrno(t, db, 1049, "nosuchdb", "CREATE SEQUENCE nosuchdb.inv_seq")
			})
		}
	})
}

// auto_create does not bring a sequence back that was dropped.
func TestAutoCreateAfterDrop(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		db := serveDDL(t, newPlace(t, s, "", "CREATE TABLE late_seq "+vitessSequence), `{"keyspaces": {"main": {"tables": {"free_seq": {"type": "sequence"}, "late_seq": {"type": "sequence"}}}}}`,
			"sequences: {auto_create: true}")
		for want := range int64(3) {
			if got := query1[int64](t, db, "SELECT NEXT VALUE FROM free_seq"); got != want+1 {
				t.Errorf("value %d, want %d", got, want+1)
			}
		}
		run1(t, db, "DROP SEQUENCE free_seq", "DROP SEQUENCE late_seq")
		for _, name := range []string{"free_seq", "late_seq"} {
			for range 2 {
				wantErrno(t, db, 1146, "was dropped", "SELECT NEXT VALUE FROM "+name)
			}
		}
		if strings.Contains(s.Version, "MariaDB") {
			return
		}
		run1(t, db, "CREATE SEQUENCE free_seq START WITH 50")
		if got := query1[int64](t, db, "SELECT NEXT VALUE FROM free_seq"); got != 50 {
			t.Errorf("value %d of the new sequence, want 50", got)
		}
	})
}

// serveDDL gives a client of a seqgate in front of a place, with a vschema if there is one, and further configuration.
func serveDDL(t *testing.T, p *place, vschema, more string) *sql.DB {
	t.Helper()
	text := fmt.Sprintf("users: [{name: app, password: app}]\nlisten: 127.0.0.1:0\nkeyspaces: {main: {shards: {\"-\": %q}}}\n%s\n", p.s.DSN(p.name), more)
	if vschema != "" {
		text += "vschema: " + writeFile(t, "vschema.json", vschema) + "\n"
	}
	return openClient(t, "app", "app", start(t, "serve", "--config", writeFile(t, "serve.yaml", text)).addr, p.name)
}
