package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestShowSeqgate(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: `{"keyspaces": {"main": {"tables": {"s": {"type": "sequence"},
			"t": {"auto_increment": {"column": "id", "sequence": "s"}}}}}}`})
		c := conn(t, g.open(t, ""))
		createSequence(t, g.direct, "s", 7, 10)
		value[int64](t, c, "SELECT NEXT VALUE FROM s")

		var name, got string
		if err := c.QueryRowContext(t.Context(), "SHOW SEQGATE STATUS LIKE 'sess%'").Scan(&name, &got); err != nil || name != "Sessions" || got != "1" {
			t.Errorf("%s = %s, %v", name, got, err)
		}
		if got := len(texts(t, c, "show seqgate /* all */ status;")); got < 10 {
			t.Errorf("%d variables", got)
		}
		rows, err := c.QueryContext(t.Context(), "SHOW SEQGATE SEQUENCES")
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		row, found := make([]any, len(types)), map[string]string{}
		for i := range row {
			row[i] = new(string)
		}
		for rows.Next() {
			if err := rows.Scan(row...); err != nil {
				t.Fatal(err)
			}
			for i, column := range types {
				found[column.Name()] = *row[i].(*string)
				if want := map[bool]string{true: "VARCHAR", false: "BIGINT"}[strings.Contains("Sequence Keyspace Strategy Ordered Server Away_since Last_error", column.Name())]; column.DatabaseTypeName() != want {
					t.Errorf("column %s is %s, want %s", column.Name(), column.DatabaseTypeName(), want)
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for column, want := range map[string]string{"Sequence": "main.s", "Keyspace": "main", "Next": "8", "Remaining": "9", "Cache": "10", "Refills": "1"} {
			if found[column] != want {
				t.Errorf("%s = %q, want %q", column, found[column], want)
			}
		}
		if got := fmt.Sprint(texts(t, c, "SHOW SEQGATE VSCHEMA")); got != "[main.s main.t]" {
			t.Errorf("vschema %s", got)
		}
		if got := fmt.Sprint(texts(t, c, "SHOW SEQGATE VSCHEMA LIKE '%.T'")); got != "[main.t]" {
			t.Errorf("vschema %s", got)
		}
		_, err = c.PrepareContext(t.Context(), "SHOW SEQGATE STATUS")
		if errno(err) != 1295 {
			t.Errorf("prepare: %v", err)
		}
		fails(t, c, 1064, "near 'FOO'", "SHOW SEQGATE FOO")
		topics := texts(t, c, "SHOW SEQGATE")
		for _, topic := range topics {
			texts(t, c, topic) // each can be run
		}
		if len(topics) != 8 {
			t.Errorf("SHOW SEQGATE lists %q", topics)
		}
	})
}

// One sees the sessions of one's own user, with what the server says of them.
func TestShowSessions(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		exec(t, g.direct, "DROP USER IF EXISTS session_other", "CREATE USER session_other IDENTIFIED BY 'x'", "GRANT SELECT ON "+g.database+".* TO session_other")
		t.Cleanup(func() { _, _ = g.direct.Exec("DROP USER session_other") })
		db := openDSN(t, fmt.Sprintf("%s:%s@tcp(%s)/%s", s.User, s.Password, g.addr, g.database))
		a, b := conn(t, db), conn(t, db)
		other := conn(t, openDSN(t, fmt.Sprintf("session_other:x@tcp(%s)/%s", g.addr, g.database)))
		idA, idB := value[string](t, a, "SELECT CONNECTION_ID()"), value[string](t, b, "SELECT CONNECTION_ID()")
		if got, want := fmt.Sprint(texts(t, a, "SHOW SEQGATE SESSIONS")), fmt.Sprint([]string{idA, idB}); got != want {
			t.Errorf("sessions %s, want %s", got, want)
		}
		var id, user, host, keyspace, database, command, seconds, state string
		eventually(t, func() bool { // the server may yet be busy with the login, or with what was asked before
			err := other.QueryRowContext(t.Context(), "SHOW SEQGATE SESSIONS").Scan(&id, &user, &host, &keyspace, &database, &command, &seconds, &state)
			if err != nil {
				t.Fatal(err)
			}
			return command == "Sleep"
		}, "a session that sleeps")
		if user != "session_other" || !strings.HasPrefix(host, "127.0.0.1:") || keyspace != "main" || database != g.database {
			t.Errorf("%s %s %s %s", user, host, keyspace, database)
		}
	})
}
