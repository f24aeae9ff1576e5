package proxy_test

import (
	"context"
	"database/sql"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/tracetest"
	"github.com/seqgate/seqgate/proxy"
)

// tracedWith are the options of a gate whose spans a recorder keeps.
func tracedWith(tracer *tracetest.Recorder) gateOptions {
	var o gateOptions
	o.sequence.Tracer = tracer
	o.configure = func(cfg *proxy.Config) { cfg.Tracer = tracer }
	return o
}

// spans runs something, and returns the spans that it left.
func spans(t *testing.T, tracer *tracetest.Recorder, run func()) string {
	t.Helper()
	tracer.Reset()
	run()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, span := range tracer.Wait(ctx, "server") { // the client has its answer before the statement's span ends
		if text, ok := span.Attrs["db.query.text"]; ok && regexp.MustCompile(`[0-9']`).MatchString(text) {
			t.Errorf("%q has values", text)
		}
	}
	return tracer.Tree("db.operation.name", "db.response.returned_rows", "db.response.status_code", "seqgate.ids", "seqgate.route",
		"seqgate.shard", "seqgate.statement.kind")
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// Statements of one server, as text and prepared, are spans with their calls, waits and refills below them.
func TestSpans(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		tracer := tracetest.New()
		g := newGate(t, s, tracedWith(tracer))
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, g.direct, "t_seq", 1000, 10)
		c := conn(t, g.open(t, ""))
		spans(t, tracer, func() { exec(t, c, "SELECT 1") })

		prepared, err := c.PrepareContext(t.Context(), "SELECT v FROM t WHERE v > ?")
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		for _, test := range []struct {
			name string
			run  func()
			want string
		}{
			{"filled", func() { exec(t, c, "INSERT INTO t (v) VALUES (1), (2)") },
				`server INSERT main db.operation.name=INSERT db.response.returned_rows=0 seqgate.ids=2 seqgate.statement.kind=insert_filled
  internal wait for ids seqgate.ids=2
  client refill
  client call main db.response.returned_rows=0
`},
			{"from memory", func() { exec(t, c, "INSERT INTO t (v) VALUES (3)") },
				`server INSERT main db.operation.name=INSERT db.response.returned_rows=0 seqgate.ids=1 seqgate.statement.kind=insert_filled
  client call main db.response.returned_rows=0
`},
			{"next value", func() { exec(t, c, "SELECT NEXT VALUE FROM t_seq") },
				"server NEXT VALUE main db.operation.name=NEXT VALUE db.response.returned_rows=0 seqgate.ids=1 seqgate.statement.kind=next\n"},
			{"of the client's trace", func() { exec(t, c, "/*traceparent='"+traceparent+"'*/ SELECT v FROM t") },
				`server SELECT main db.operation.name=SELECT db.response.returned_rows=3 seqgate.statement.kind=select of ` + traceparent + `
  client call main db.response.returned_rows=3
`},
			{"refused by the server", func() { fails(t, c, 1062, "", "INSERT INTO t VALUES (1000, 1), (1000, 2)") },
				`server INSERT main db.operation.name=INSERT db.response.status_code=1062 seqgate.statement.kind=insert: error 1062
  client call main db.response.returned_rows=1
  client call main db.response.returned_rows=0 db.response.status_code=1062: error 1062
`},
			{"not understood", func() { fails(t, c, 1136, "", "INSERT INTO t (v) VALUES (1, 2)") },
				`server INSERT main db.operation.name=INSERT db.response.status_code=1136 seqgate.statement.kind=insert: error 1136
  client call main db.response.returned_rows=0 db.response.status_code=1136: error 1136
`},
			{"prepared", func() { query(t, prepared) },
				`server SELECT main db.operation.name=SELECT db.response.returned_rows=2 seqgate.statement.kind=select
  client call main db.response.returned_rows=2
`},
		} {
			t.Run(test.name, func(t *testing.T) {
				got := spans(t, tracer, test.run)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("spans (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func query(t *testing.T, st *sql.Stmt) {
	t.Helper()
	rows, err := st.QueryContext(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// Each shard that a statement runs on has a span below it.
func TestSpansOfShards(t *testing.T) {
	s := servertest.First(t)
	tracer := tracetest.New()
	g, c := newInsertGateWith(t, s, 2, tracedWith(tracer))
	exec(t, g.direct, "UPDATE user_seq SET cache = 100")
	exec(t, c, "INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d')") // the session knows both servers then
	for _, test := range []struct {
		name, sql string
		want      string
	}{
		{"scatter", "SELECT name FROM user", `server SELECT customer db.operation.name=SELECT db.response.returned_rows=4 seqgate.route=scatter seqgate.statement.kind=select
  client call customer:-80 db.response.returned_rows=0 seqgate.shard=-80
  client call customer:80- db.response.returned_rows=0 seqgate.shard=80-
  client call customer:-80 db.response.returned_rows=3 seqgate.shard=-80
  client call customer:80- db.response.returned_rows=1 seqgate.shard=80-
`},
		{"one shard", "SELECT name FROM user WHERE id = 1", `server SELECT customer db.operation.name=SELECT db.response.returned_rows=1 seqgate.route=single seqgate.statement.kind=select
  client call customer:-80 db.response.returned_rows=1 seqgate.shard=-80
`},
		{"insert", "INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d')", `server INSERT customer db.operation.name=INSERT db.response.returned_rows=0 seqgate.ids=4 seqgate.route=scatter seqgate.statement.kind=insert_filled
  client call customer:-80 db.response.returned_rows=0 seqgate.shard=-80
  client call customer:80- db.response.returned_rows=0 seqgate.shard=80-
  client call customer:-80 db.response.returned_rows=0 seqgate.shard=-80
  client call customer:80- db.response.returned_rows=0 seqgate.shard=80-
`},
		{"refused by seqgate", "UPDATE user SET id = id + 1", `server UPDATE customer db.operation.name=UPDATE db.response.status_code=1235 seqgate.route=local seqgate.statement.kind=update: error 1235
  client call customer:-80 db.response.returned_rows=0 seqgate.shard=-80
  client call customer:-80 db.response.returned_rows=0 seqgate.shard=-80
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := spans(t, tracer, func() {
				if _, err := c.ExecContext(t.Context(), test.sql); (err == nil) != (test.name != "refused by seqgate") {
					t.Error(err)
				}
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}
