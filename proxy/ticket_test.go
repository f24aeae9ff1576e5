package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

const ticketSchema = `{"keyspaces": {"main": {"tables": {"tickets_seq": {"type": "sequence"},
	"Tickets64": {"type": "ticket", "auto_increment": {"column": "id", "sequence": "tickets_seq"}}}}}}`

const ticketTable = "CREATE TABLE Tickets64 (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, stub CHAR(1) NOT NULL DEFAULT '', UNIQUE KEY (stub))"

func newTicketGate(t testing.TB, s *servertest.Server) *gate {
	g := newGate(t, s, gateOptions{vschema: ticketSchema})
	exec(t, g.direct, ticketTable, "REPLACE INTO Tickets64 (stub) VALUES ('a')")
	createSequence(t, g.direct, "tickets_seq", 100, 1000)
	return g
}

func TestTickets(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newTicketGate(t, s)
		c := conn(t, g.open(t, "multiStatements=true"))
		want := int64(100)
		for statement, affected := range map[string]int64{
			"REPLACE INTO Tickets64 (stub) VALUES ('a')":           2,
			"replace into Tickets64 (id, stub) VALUES (NULL, 'a')": 2,
			"REPLACE INTO Tickets64 SET stub = 'a'":                2,
			"INSERT INTO Tickets64 (stub) VALUES ('b')":            1,
			"REPLACE INTO Tickets64 VALUES (DEFAULT, 'a')":         2,
		} {
			for range 2 {
				res, err := c.ExecContext(t.Context(), statement)
				if err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
				id, _ := res.LastInsertId()
				n, _ := res.RowsAffected()
				if id != want || n != affected {
					t.Errorf("%s: id %d, affected %d, want %d, %d", statement, id, n, want, affected)
				}
				for _, query := range []string{"SELECT LAST_INSERT_ID()", "SELECT last_insert_id();", "SELECT @@identity", "SELECT LAST_INSERT_ID()+0"} {
					if got := value[int64](t, c, query); got != want {
						t.Errorf("%s after %s: %d, want %d", query, statement, got, want)
					}
				}
				want++
			}
		}
		if got := value[int64](t, c, "REPLACE INTO Tickets64 (stub) VALUES ('a'); SELECT LAST_INSERT_ID()"); got != want {
			t.Errorf("the pair gives %d, want %d", got, want)
		}
		st, err := c.PrepareContext(t.Context(), "REPLACE INTO Tickets64 (stub) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for range 3 {
			want++
			res, err := st.ExecContext(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := res.LastInsertId(); id != want || value[int64](t, c, "SELECT LAST_INSERT_ID()") != want {
				t.Errorf("prepared: id %d, want %d", id, want)
			}
		}
		if got := value[string](t, c, "SELECT GROUP_CONCAT(id, stub) FROM Tickets64"); got != "1a" {
			t.Errorf("the server's table has %s", got)
		}
	})
}

// The answer from memory has the server's column definition.
func TestTicketColumn(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newTicketGate(t, s)
		c := conn(t, g.open(t, ""))
		describe := func(c interface {
			QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		}) string {
			rows, err := c.QueryContext(t.Context(), "SELECT Last_insert_id()")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			types, err := rows.ColumnTypes()
			if err != nil || rows.Next() != true || rows.Err() != nil {
				t.Fatal(err, rows.Err())
			}
			nullable, _ := types[0].Nullable()
			length, _ := types[0].Length()
			return fmt.Sprint(types[0].Name(), types[0].DatabaseTypeName(), types[0].ScanType(), nullable, length)
		}
		exec(t, c, "REPLACE INTO Tickets64 (stub) VALUES ('a')")
		if got, want := describe(c), describe(g.direct); got != want {
			t.Errorf("got %s, the server says %s", got, want)
		}
	})
}

func TestTicketsRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newTicketGate(t, s)
		c := conn(t, g.open(t, ""))
		for statement, text := range map[string]string{
			"REPLACE INTO Tickets64 (stub) VALUES ('a'), ('b')":                            "several rows",
			"REPLACE INTO Tickets64 (id, stub) VALUES (5, 'a')":                            "an id of one's own",
			"INSERT INTO Tickets64 (stub) VALUES ('a') ON DUPLICATE KEY UPDATE stub = 'c'": "ON DUPLICATE KEY UPDATE",
			"INSERT IGNORE INTO Tickets64 (stub) VALUES ('a')":                             "IGNORE",
			"INSERT INTO Tickets64 (stub) SELECT 'a'":                                      "INSERT ... SELECT",
			"REPLACE INTO Tickets64 SELECT NULL, 'a'":                                      "INSERT ... SELECT",
		} {
			fails(t, c, 1235, text, statement)
			if _, err := c.PrepareContext(t.Context(), statement); errno(err) != 1235 {
				t.Errorf("prepare %s: %v", statement, err)
			}
		}
		if strings.Contains(s.Version, "MariaDB") {
			fails(t, c, 1235, "RETURNING", "REPLACE INTO Tickets64 (stub) VALUES ('a') RETURNING id")
			if _, err := c.PrepareContext(t.Context(), "REPLACE INTO Tickets64 (stub) VALUES (?) RETURNING id"); errno(err) != 1235 {
				t.Errorf("prepared RETURNING: %v", err)
			}
		}
		fails(t, c, 1235, "LOAD DATA on the sequenced table 'Tickets64'", "LOAD DATA LOCAL INFILE 'nosuch' INTO TABLE Tickets64 (stub)")
		fails(t, c, 1235, "PREPARE", "PREPARE p FROM 'REPLACE INTO Tickets64 (stub) VALUES (1)'")
		if _, err := c.PrepareContext(t.Context(), "REPLACE INTO Tickets64 (id, stub) VALUES (?, 'a')"); errno(err) != 1235 {
			t.Errorf("prepared id: %v", err)
		}
		fails(t, c, 1054, "nosuch", "REPLACE INTO Tickets64 (nosuch) VALUES ('a')")
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM Tickets64"); got != 1 {
			t.Errorf("%d rows", got)
		}
	})
}

// BenchmarkTicket is the pair REPLACE and SELECT LAST_INSERT_ID(), direct and
// through seqgate.
func BenchmarkTicket(b *testing.B) {
	g := newTicketGate(b, servertest.First(b))
	b.Run("direct", func(b *testing.B) { benchmarkTicket(b, conn(b, g.direct)) })
	b.Run("seqgate", func(b *testing.B) { benchmarkTicket(b, conn(b, g.open(b, ""))) })
}

func benchmarkTicket(b *testing.B, c *sql.Conn) {
	for b.Loop() {
		exec(b, c, "REPLACE INTO Tickets64 (stub) VALUES ('a')")
		value[int64](b, c, "SELECT LAST_INSERT_ID()")
	}
}
