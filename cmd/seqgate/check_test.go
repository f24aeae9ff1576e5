package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

func TestCheckConvention(t *testing.T) {
	table := func(name string) string { return "CREATE TABLE " + name + " (id BIGINT PRIMARY KEY)" }
	sequence := func(name, row string) string {
		return "CREATE TABLE " + name + " " + vitessSequence + "; INSERT INTO " + name + " VALUES " + row
	}
	tests := []struct {
		name       string
		statements string
		want       []string // lines before the summary
	}{
		{"empty", "", []string{
			"warning: convention: no table has a sequence table beside it, nothing is filled: seqgate init makes one for each table that it is given"}},
		{"good", table("t") + "; INSERT INTO t VALUES (9); " + sequence("t_seq", "(0, 10, 5)"), []string{
			"ok: main.t.id: filled from main.t_seq: next_id 10, cache 5, 9223372036854775798 ids left of bigint"}},
		{"sequence alone", sequence("alone", "(0, 10, 5)"), []string{"ok: main.alone: next_id 10, cache 5"}},
		{"past MAXVALUE", sequence("alone", "(0, 26, 5)") + "; ALTER TABLE alone COMMENT 'vitess_sequence maxvalue=25'", []string{
			"error: main.alone: the ids are used up: next_id 26 is past MAXVALUE 25"}},
		{"near MAXVALUE", sequence("alone", "(0, 25, 5)") + "; ALTER TABLE alone COMMENT 'vitess_sequence maxvalue=25'", []string{
			"warning: main.alone: ids left up to MAXVALUE 25: 1, next_id is 25", "ok: main.alone: next_id 25, cache 5"}},
		{"not above", table("t") + "; INSERT INTO t VALUES (10); " + sequence("t_seq", "(0, 10, 5)"), []string{
			"error: main.t.id: filled from main.t_seq: next_id 10 is not above the largest id 10, ids would repeat: run seqgate init"}},
		{"below the counter", "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 100; " + sequence("t_seq", "(0, 10, 5)"), []string{
			"warning: main.t.id: filled from main.t_seq: next_id 10 is below the AUTO_INCREMENT counter 100, ids of deleted rows may be given again: run seqgate init",
			"ok: main.t.id: filled from main.t_seq: next_id 10, cache 5, 9223372036854775798 ids left of bigint"}},
		{"nearly used up", "CREATE TABLE t (id TINYINT PRIMARY KEY); " + sequence("t_seq", "(0, 120, 5)"), []string{
			"warning: main.t.id: filled from main.t_seq: only 8 ids are left of tinyint, next_id is 120: make it a BIGINT",
			"ok: main.t.id: filled from main.t_seq: next_id 120, cache 5, 8 ids left of tinyint"}},
		{"used up", "CREATE TABLE t (id TINYINT UNSIGNED PRIMARY KEY); " + sequence("t_seq", "(0, 256, 5)"), []string{
			"error: main.t.id: filled from main.t_seq: the ids are used up: next_id 256 is past the end of tinyint unsigned, 255: make it a BIGINT"}},
		{"no row", table("t") + "; " + sequence("t_seq", "(1, 10, 5)"), []string{
			"error: main.t_seq: there is no row with id = 0: run seqgate init"}},
		{"two rows", table("t") + "; CREATE TABLE t_seq (id INT, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'; INSERT INTO t_seq VALUES (0, 1, 1), (0, 2, 2)", []string{
			"error: main.t_seq: there are 2 rows with id = 0: leave the one with the largest next_id"}},
		{"NULL", table("t") + "; " + sequence("t_seq", "(0, NULL, 5)"), []string{"error: main.t_seq: next_id is NULL: run seqgate init"}},
		{"cache 0", table("t") + "; " + sequence("t_seq", "(0, 5, 0)"), []string{
			"error: main.t_seq: cache is not at least 1: UPDATE `DB`.`t_seq` SET `cache` = 1000 WHERE `id` = 0"}},
		{"negative, and cache 0", table("t") + "; " + sequence("t_seq", "(0, -7, 0)"), []string{
			"error: main.t_seq: next_id is -7, and ids begin at 1: run seqgate init",
			"error: main.t_seq: cache is not at least 1: UPDATE `DB`.`t_seq` SET `cache` = 1000 WHERE `id` = 0"}},
		{"used up by rows", "CREATE TABLE t (id TINYINT PRIMARY KEY); INSERT INTO t VALUES (127); " + sequence("t_seq", "(0, 120, 5)"), []string{
			"error: main.t.id: filled from main.t_seq: the ids are used up: the largest id, 127, is the last of tinyint: make it a BIGINT"}},
		{"cache NULL", table("t") + "; " + sequence("t_seq", "(0, 5, NULL)"), []string{
			"error: main.t_seq: cache is not at least 1: UPDATE `DB`.`t_seq` SET `cache` = 1000 WHERE `id` = 0"}},
		{"2^63-1", table("t") + "; " + sequence("t_seq", "(0, 9223372036854775807, 0)"), []string{
			"error: main.t_seq: the ids are used up: 9223372036854775807 was the last"}},
		{"no comment", table("t") + "; CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT); INSERT INTO t_seq VALUES (0, 1, 1)", []string{
			"error: main.t_seq: the table lacks the comment of a sequence: ALTER TABLE `DB`.`t_seq` COMMENT 'vitess_sequence'"}},
		{"no transactions", table("t") + "; CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = MyISAM COMMENT 'vitess_sequence'; INSERT INTO t_seq VALUES (0, 1, 1)", []string{
			"error: main.t_seq: the table has the engine MyISAM, which has no transactions: ALTER TABLE `DB`.`t_seq` ENGINE = InnoDB"}},
		{"not usable", "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b)); " + sequence("t_seq", "(0, 1, 1)"), []string{
			"ok: main.t_seq: next_id 1, cache 1",
			"warning: main.t: not filled from t_seq beside it: it has no AUTO_INCREMENT column, and its primary key has 2 columns"}},
		{"no sequence table", table("t") + "; CREATE TABLE t_seq (n INT); " + table("u") + "; " + sequence("u_seq", "(0, 1, 1)"), []string{
			"ok: main.u.id: filled from main.u_seq: next_id 1, cache 1, 9223372036854775807 ids left of bigint",
			"warning: main.t: not filled from t_seq beside it: t_seq is no sequence table: it needs the columns id, next_id and cache"}},
		{"sequence of a sequence", sequence("t_seq", "(0, 1, 1)") + "; " + sequence("t_seq_seq", "(0, 1, 1)"), []string{
			"ok: main.t_seq: next_id 1, cache 1", "ok: main.t_seq_seq: next_id 1, cache 1"}},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var statements []string
				if tt.statements != "" {
					statements = strings.Split(tt.statements, "; ")
				}
				p := newPlace(t, s, "", statements...)
				checkOutput(t, p, tt.want)
			})
		}
	})
}

// checkOutput runs check, and compares its lines, their count by kind and the exit code.
func checkOutput(t *testing.T, p *place, want []string) {
	t.Helper()
	out, err := p.run(checkCommand)
	count := func(kind string) (n int) {
		for _, line := range want {
			if strings.HasPrefix(line, kind+": ") {
				n++
			}
		}
		return n
	}
	wantLines(t, out, append(want[:len(want):len(want)], fmt.Sprintf("errors: %d, warnings: %d", count("error"), count("warning")))...)
	if got, want := exitCode(err), min(count("error"), 1); got != want {
		t.Errorf("exit code %d (%v), want %d", got, err, want)
	}
}

func TestCheckVSchema(t *testing.T) {
	vschemaText := `{"keyspaces": {"main": {"tables": {
		"good":    {"auto_increment": {"column": "ID", "sequence": "s"}, "columns": [{"name": "id"}, {"name": "V"}], "column_list_authoritative": true},
		"missing": {"auto_increment": {"column": "id", "sequence": "s"}},
		"column":  {"auto_increment": {"column": "idd", "sequence": "s"}},
		"text":    {"auto_increment": {"column": "id", "sequence": "s"}},
		"number":  {"auto_increment": {"column": "id", "sequence": "s"}},
		"full":    {"auto_increment": {"column": "id", "sequence": "s"}},
		"behind":  {"auto_increment": {"column": "id", "sequence": "s"}},
		"day":     {"auto_increment": {"column": "id", "sequence": "s"}},
		"order":   {"auto_increment": {"column": "id", "sequence": "s"}, "columns": [{"name": "id"}, {"name": "v"}], "column_list_authoritative": true},
		"nosequence": {"auto_increment": {"column": "id", "sequence": "not_made"}},
		"s": {"type": "sequence"}, "not_made": {"type": "sequence"}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, vschemaText,
			"CREATE TABLE good (id BIGINT PRIMARY KEY, v INT)", "CREATE TABLE `column` (id BIGINT PRIMARY KEY)",
			"CREATE TABLE text (id CHAR(5) PRIMARY KEY)", "INSERT INTO text VALUES ('abc'), ('4')",
			"CREATE TABLE number (id DECIMAL(20) PRIMARY KEY)", "INSERT INTO number VALUES (99999999999999999999), (4)", // what is no id does not count
			"CREATE TABLE full (id VARCHAR(1) PRIMARY KEY)", "INSERT INTO full VALUES ('9')",
			"CREATE TABLE behind (id CHAR(20) PRIMARY KEY)", "INSERT INTO behind VALUES ('10'), ('9')", "CREATE TABLE day (id DATE PRIMARY KEY)",
			"CREATE TABLE `order` (v INT, id BIGINT PRIMARY KEY)",
			"CREATE TABLE nosequence (id INT PRIMARY KEY)",
			"CREATE TABLE s "+vitessSequence, "INSERT INTO s VALUES (0, 5, 1)")
		checkOutput(t, p, []string{
			"error: main.not_made: the sequence table is missing: run seqgate init",
			"error: main.behind.id: filled from main.s: next_id 5 is not above the largest id 10, ids would repeat: run seqgate init",
			"error: main.column: the auto_increment column idd is missing: did you mean \"id\"?",
			"error: main.day.id: a date holds no sequence's ids: make it a BIGINT",
			"error: main.full.id: filled from main.s: the ids are used up: the largest id, 9, is the last of varchar(1): make it a BIGINT",
			"ok: main.good.id: filled from main.s: next_id 5, cache 1, 9223372036854775803 ids left of bigint",
			"error: main.missing: the table is missing in database DB, or the vschema names it wrongly: write one of behind, column, day, full, good, nosequence, number, order, s, text",
			"ok: main.number.id: filled from main.s: next_id 5, cache 1, 9223372036854775803 ids left of decimal(20,0)",
			"error: main.order: the vschema's authoritative columns are id, v, the table's are v, id: correct the vschema",
			"ok: main.order.id: filled from main.s: next_id 5, cache 1, 9223372036854775803 ids left of bigint",
			"ok: main.text.id: filled from main.s: next_id 5, cache 1, 99995 ids left of char(5)",
		})
	})
}

// TestCheckRights holds that check finds an account that may read sequences and not move them.
func TestCheckRights(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 1)")
		user := "r" + p.name[len(p.name)-8:]
		p.exec("CREATE USER "+user+"@'%' IDENTIFIED BY 'pw'", "GRANT SELECT ON "+p.name+".* TO "+user+"@'%'")
		defer p.exec("DROP USER " + user + "@'%'")
		p.from = []string{"--upstream", user + ":pw@tcp(" + s.Addr + ")/" + p.name}
		out, err := p.run(checkCommand)
		if exitCode(err) != 1 || !strings.Contains(out, "error: DB.t_seq: seqgate cannot reserve ids: Error 1142") {
			t.Errorf("output %q, %v, want that UPDATE is denied", out, err)
		}
		p.exec("GRANT UPDATE ON " + p.name + ".t_seq TO " + user + "@'%'")
		if out, err := p.run(checkCommand); err != nil {
			t.Errorf("with the right to update: %v\n%s", err, out)
		}
	})
}

// TestCheckChangesNothing holds that check leaves even a wrong sequence as it is.
func TestCheckChangesNothing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (9)",
			"CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 7)")
		if _, err := p.run(checkCommand); exitCode(err) != 1 {
			t.Errorf("error %v, want findings", err)
		}
		if got := p.sequence("t_seq"); got != "1 7" {
			t.Errorf("next_id and cache %s after check, want 1 7 as before", got)
		}
	})
}

func TestCheckUnreachable(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"check", "--upstream", "u:p@tcp(127.0.0.1:1)/d"}, &out, &out)
	if err != nil {
		t.Errorf("error %v, want none", err)
	}
	if got := out.String(); !strings.HasPrefix(got, "warning: d: the server cannot be reached, its tables are not checked: ") ||
		!strings.HasSuffix(got, "\nerrors: 0, warnings: 1\n") {
		t.Errorf("output %q, want a warning", got)
	}
}

func TestCheckRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var out strings.Builder
		err := run(t.Context(), []string{"check", "--upstream", "nobody:pw@tcp(" + s.Addr + ")/d"}, &out, &out)
		if exitCode(err) != 1 || !strings.Contains(out.String(), "error: d: keyspace d at "+s.Addr+": Error 1045") {
			t.Errorf("output %q, %v, want an error: the server refuses the user", out.String(), err)
		}
	})
}

func TestCheckBadFiles(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"check", "--config", "../../internal/config/testdata/config/vschema_errors.yaml"}, &out, &out)
	var errs vschema.Errors
	if !errors.As(err, &errs) || len(errs) != 3 || exitCode(err) != 2 {
		t.Errorf("error %v, exit code %d, want the 3 errors of both files and 2", err, exitCode(err))
	}
}
