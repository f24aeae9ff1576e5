package main

import (
	"testing"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

func TestFirstFree(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (41)", "CREATE TABLE text (id CHAR(8) PRIMARY KEY)")
		other := newSource(t, s, []string{"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 100"})
		withVSchema := newPlace(t, s, initVSchema, "CREATE TABLE a (id BIGINT PRIMARY KEY)", "INSERT INTO a VALUES (10)",
			"CREATE TABLE b (id CHAR(8) PRIMARY KEY, n INT UNSIGNED)", "INSERT INTO b VALUES ('x', 20)")
		open, err := s.Open(t, p.name).BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = open.Rollback() }()
		if _, err := open.ExecContext(t.Context(), "INSERT INTO t VALUES (50)"); err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name  string
			place *place
			of    sequence.Name
			want  int64 // -1: an error
		}{
			{"convention", p, sequence.Name{Keyspace: "main", Database: p.name, Table: "t_seq"}, 51}, // also of a row that is not committed yet
			{"fills nothing", p, sequence.Name{Keyspace: "main", Database: p.name, Table: "alone"}, 0},
			{"no table", p, sequence.Name{Keyspace: "main", Database: p.name, Table: "nope_seq"}, 0},
			{"not fillable", p, sequence.Name{Keyspace: "main", Database: p.name, Table: "text_seq"}, 0},
			{"another database", p, sequence.Name{Keyspace: "main", Database: other, Table: "t_seq"}, 100},
			{"no database", p, sequence.Name{Keyspace: "main", Database: "nosuchdb", Table: "t_seq"}, 0},
			{"no keyspace", p, sequence.Name{Keyspace: "nope", Database: p.name, Table: "t_seq"}, -1},
			{"vschema", withVSchema, sequence.Name{Keyspace: "main", Database: withVSchema.name, Table: "shared_seq"}, 21},
			{"vschema, another case", withVSchema, sequence.Name{Keyspace: "main", Database: withVSchema.name, Table: "Shared_SEQ"}, 21},
			{"table of the vschema missing", withVSchema, sequence.Name{Keyspace: "main", Database: withVSchema.name, Table: "later_seq"}, 1},
			{"outside of the vschema", withVSchema, sequence.Name{Keyspace: "main", Database: other, Table: "t_seq"}, 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				cfg, err := (&source{file: tt.place.from[1]}).load()
				if err != nil {
					t.Fatal(err)
				}
				got, err := ops.FirstFree(t.Context(), cfg, tt.of)
				if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
					t.Errorf("firstFree = %d, %v, want %d", got, err, tt.want)
				}
			})
		}
	})
}
