package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func explainCommand(ctx context.Context, args []string, out *bytes.Buffer) error {
	return run(ctx, append([]string{"explain"}, args...), out, out)
}

func TestExplain(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 41, 1000)", "CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)")
		for _, tt := range []struct{ sql, want string }{
			{`INSERT INTO t (v) VALUES ('it''s'), ("b\\")`, "plan      fill\ntable     t\ncolumn    id\nsequence  main.t_seq\nids       2\n" +
				"main      INSERT INTO t (v, `id`) VALUES ('it''s', LAST_INSERT_ID(:id1)), (\"b\\\\\", :id2)\n"},
			{"SELECT NEXT 3 VALUES FROM t_seq", "plan      next value\nsequence  main.t_seq\nids       3\n"},
			{"INSERT INTO t (v) VALUES (?)", "plan      fill\ntable     t\ncolumn    id\nsequence  main.t_seq\nids       1\nmain      INSERT INTO t (v, `id`) VALUES (?, LAST_INSERT_ID(?))\n"},
			{"-- a comment\nUPDATE t SET v = 'y'", "plan  relay\nmain  -- a comment\nUPDATE t SET v = 'y'\n"},
			{"UPDATE t SET v = 'x'", "plan  relay\nmain  UPDATE t SET v = 'x'\n"},
		} {
			if got, err := p.run(explainCommand, tt.sql); err != nil || got != tt.want {
				t.Errorf("%s: got %q, %v, want %q", tt.sql, got, err, tt.want)
			}
		}
		if got, err := p.run(explainCommand, "INSERT INTO t (v) VALUES ('a'"); err != nil || !strings.HasPrefix(got, "plan   refuse\nerror  1064 (42000): You have an error") {
			t.Errorf("a syntax error: got %q, %v", got, err)
		}
		if got := p.sequence("t_seq"); got != "41 1000" {
			t.Errorf("next_id and cache are %s afterwards, want 41 1000", got)
		}
		if _, err := p.run(explainCommand, "SELECT 1", "SELECT 2"); exitCode(err) != 2 {
			t.Errorf("two arguments: got %v", err)
		}
	})
}
