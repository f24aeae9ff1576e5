package main

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestInitNamedTable(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "",
			"CREATE TABLE `odd``name` (`the id` INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 41",
			"INSERT INTO `odd``name` VALUES (), ()",
			"CREATE TABLE other (id BIGINT PRIMARY KEY)")
		create := "CREATE TABLE `DB`.`odd``name_seq` (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT 'vitess_sequence';"
		insert := "INSERT INTO `DB`.`odd``name_seq` (id, next_id, cache) VALUES (0, 43, 50);"

		out, err := p.run(initCommand, "--dry-run", "--cache", "50", "odd`name")
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, create, insert)
		var tables int
		if err := p.db.QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables); err != nil || tables != 2 {
			t.Fatalf("%d tables after --dry-run, %v, want 2", tables, err)
		}

		if out, err = p.run(initCommand, "--cache", "50", "main.odd`name"); err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, create, insert)
		if got := p.sequence("odd`name_seq"); got != "43 50" {
			t.Errorf("next_id and cache %s, want 43 50", got)
		}

		// It is found by the convention now, and there is nothing to do.
		if out, err = p.run(initCommand); err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, "-- main.odd`name_seq: nothing to do, next_id 43, cache 50")
	})
}

func TestInitOnlyRaises(t *testing.T) {
	tests := []struct {
		name, row, want string
	}{
		{"behind", "(0, 5, 7)", "11 7"},
		{"at the largest id", "(0, 10, 7)", "11 7"},
		{"just above", "(0, 11, 7)", "11 7"},
		{"far above", "(0, 1000, 7)", "1000 7"},
		{"NULL", "(0, NULL, NULL)", "11 1000"},
		{"cache 0", "(0, 50, 0)", "50 1000"},
		{"other row", "(1, 500, 7)", "11 1000"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "",
					"CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (3), (10)",
					"CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES "+tt.row)
				for range 2 {
					if _, err := p.run(initCommand, "--stopped"); err != nil { // without, a row that says nothing is refused
						t.Fatal(err)
					}
					if got := p.sequence("t_seq"); got != tt.want {
						t.Errorf("next_id and cache %s, want %s", got, tt.want)
					}
				}
			})
		}
	})
}

const initVSchema = `{"keyspaces": {"main": {"tables": {
	"a": {"auto_increment": {"column": "id", "sequence": "shared_seq"}},
	"b": {"auto_increment": {"column": "n", "sequence": "main.shared_seq"}},
	"later": {"auto_increment": {"column": "id", "sequence": "later_seq"}},
	"shared_seq": {"type": "sequence"}, "later_seq": {"type": "sequence"}, "alone_seq": {"type": "sequence"}
}}}}`

func TestInitVSchema(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, initVSchema,
			"CREATE TABLE a (id BIGINT PRIMARY KEY)", "INSERT INTO a VALUES (10)",
			"CREATE TABLE b (id CHAR(8) PRIMARY KEY, n INT UNSIGNED)", "INSERT INTO b VALUES ('x', 20)",
			"CREATE TABLE c (id BIGINT PRIMARY KEY)", "CREATE TABLE c_seq "+vitessSequence)
		out, err := p.run(initCommand, "a")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, "-- main.later does not exist yet: its ids start at 1\n") {
			t.Errorf("the output does not say that a table is missing:\n%s", out)
		}
		for table, want := range map[string]string{"shared_seq": "21 1000", "later_seq": "1 1000", "alone_seq": "1 1000"} {
			if got := p.sequence(table); got != want {
				t.Errorf("%s: next_id and cache %s, want %s", table, got, want)
			}
		}
		var rows int
		if err := p.db.QueryRow("SELECT COUNT(*) FROM c_seq").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows in c_seq, %v, want none: the vschema does not name it", rows, err)
		}
		if _, err := p.run(initCommand, "c"); exitCode(err) != 2 || !strings.Contains(err.Error(), "the vschema binds no sequence to main.c") {
			t.Errorf("table c: %v, want that the vschema does not bind it", err)
		}
	})
}

func TestInitRefuses(t *testing.T) {
	sequence := "CREATE TABLE t_seq " + vitessSequence
	tests := []struct {
		name       string
		statements []string
		args       []string
		code       int
		want       string
	}{
		{"nothing to do", nil, nil, 2, "no sequences: name the tables"},
		{"no such table", nil, []string{"t"}, 2, "there is no table main.t"},
		{"no such keyspace", nil, []string{"mian.t"}, 2, `no table main.mian.t, and no keyspace "mian"`},
		{"a sequence", []string{sequence}, []string{"t_seq"}, 2, "by its name it is a sequence itself"},
		{"no column", []string{"CREATE TABLE t (v INT)"}, []string{"t"}, 2, "neither an AUTO_INCREMENT column nor a primary key"},
		{"bad cache", nil, []string{"--cache", "0"}, 2, `invalid argument "0" for "--cache" flag: write a whole number from 1`},
		{"not a sequence", []string{"CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE t_seq (id INT PRIMARY KEY)"}, []string{"t"}, 1,
			"sequence main.t_seq: the table is no sequence table: it needs the columns id, next_id and cache"},
		{"no comment, no transactions", []string{"CREATE TABLE t (id INT PRIMARY KEY)",
			"CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = MyISAM"}, nil, 1,
			"lacks the comment of a sequence: ALTER TABLE `DB`.`t_seq` COMMENT 'vitess_sequence', and has the engine MyISAM"},
		{"two rows", []string{"CREATE TABLE t (id INT PRIMARY KEY)",
			"CREATE TABLE t_seq (id INT, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO t_seq VALUES (0, 1, 1), (0, 2, 2)"},
			nil, 1, "there are 2 rows with id = 0"},
		{"used up", []string{"CREATE TABLE t (id TINYINT PRIMARY KEY)", "INSERT INTO t VALUES (127)", sequence}, nil, 1,
			"the ids are used up: id is a tinyint, which ends at 127: make it a BIGINT"},
		{"used up in the sequence", []string{"CREATE TABLE t (id BIGINT PRIMARY KEY)", sequence,
			"INSERT INTO t_seq VALUES (0, 9223372036854775807, 0)"}, nil, 1, "the ids are used up"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "", tt.statements...)
				_, err := p.run(initCommand, tt.args...)
				if err == nil {
					t.Fatalf("no error, want %q", tt.want)
				}
				if got := strings.ReplaceAll(err.Error(), p.name, "DB"); !strings.Contains(got, tt.want) {
					t.Errorf("error %q, want %q", got, tt.want)
				}
				if got := exitCode(err); got != tt.code {
					t.Errorf("exit code %d, want %d", got, tt.code)
				}
			})
		}
	})
}

// TestInitGoesOn holds that one bad sequence does not keep the others from being made.
func TestInitGoesOn(t *testing.T) {
	vschemaText := `{"keyspaces": {"main": {"tables": {
		"a": {"auto_increment": {"column": "nope", "sequence": "a_seq"}},
		"b": {"auto_increment": {"column": "id", "sequence": "b_seq"}},
		"c": {"auto_increment": {"column": "id", "sequence": "c_seq"}},
		"a_seq": {"type": "sequence"}, "b_seq": {"type": "sequence"}, "c_seq": {"type": "sequence"}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, vschemaText, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id DATE PRIMARY KEY)",
			"CREATE TABLE c (id INT PRIMARY KEY)", "INSERT INTO c VALUES (8)")
		_, err := p.run(initCommand)
		want := `sequence main.a_seq: table main.a: there is no column nope: write id
sequence main.b_seq: table main.b: the column id is a date, which holds no sequence's ids: make it a BIGINT`
		if err == nil || err.Error() != want {
			t.Errorf("error:\n%v\nwant:\n%s", err, want)
		}
		if got := p.sequence("c_seq"); got != "9 1000" {
			t.Errorf("c_seq: next_id and cache %s, want 9 1000", got)
		}
	})
}

// TestInitTogether holds that several at once make one sequence, right for all.
func TestInitTogether(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (77)")
		var group sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			group.Go(func() { _, errs[i] = p.run(initCommand, "t") })
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("t_seq"); got != "78 1000" {
			t.Errorf("next_id and cache %s, want 78 1000", got)
		}
	})
}

func TestInitUnreachable(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"init", "--upstream", "u:p@tcp(127.0.0.1:1)/d"}, &out, &out)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "keyspace d at 127.0.0.1:1: ") {
		t.Errorf("error %v, exit code %d, want the address and 1", err, exitCode(err))
	}
}

// A ticket table is one that is filled: its sequence begins above its ids.
func TestInitTickets(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, `{"keyspaces": {"main": {"tables": {"tickets_seq": {"type": "sequence"},
			"Tickets64": {"type": "ticket", "auto_increment": {"column": "id", "sequence": "tickets_seq"}}}}}}`,
			"CREATE TABLE Tickets64 (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, stub CHAR(1) NOT NULL UNIQUE) AUTO_INCREMENT = 70",
			"REPLACE INTO Tickets64 (stub) VALUES ('a')")
		if _, err := p.run(initCommand); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("tickets_seq"); got != "71 1000" {
			t.Errorf("next_id and cache %s, want 71 1000", got)
		}
		if out, err := p.run(checkCommand); err != nil {
			t.Errorf("check: %v\n%s", err, out)
		}
	})
}
