package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
)

// wantError checks an error's exit code and text; the database's name is written as DB.
func wantError(t *testing.T, p *place, err error, code int, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if got := strings.ReplaceAll(err.Error(), p.name, "DB"); exitCode(err) != code || !strings.Contains(got, want) {
		t.Errorf("exit code %d, error %q, want %d, %q", exitCode(err), got, code, want)
	}
}

// oddPlace has a table and a sequence whose names need quotes; ids up to 10 are in use.
func oddPlace(t *testing.T, s *servertest.Server, row string) *place {
	return newPlace(t, s, "", "CREATE TABLE `odd ``täble` (`the ``id` INT PRIMARY KEY)", "INSERT INTO `odd ``täble` VALUES (10)",
		"CREATE TABLE `odd ``täble_seq` "+vitessSequence, "INSERT INTO `odd ``täble_seq` VALUES "+row)
}

const oddSequence = "odd `täble_seq"

func TestSeqSet(t *testing.T) {
	raise := "UPDATE `DB`.`odd ``täble_seq` SET next_id = GREATEST(next_id, 500) WHERE id = 0;"
	tests := []struct {
		name, row, args string
		want            []string // the output but for ops.MemoryNote
		after           string
	}{
		{"raise", "(0, 50, 7)", "500", []string{raise, "-- main.odd `täble_seq: next_id 50, cache 7 -> next_id 500, cache 7"}, "500 7"},
		{"the same", "(0, 500, 7)", "500", []string{"-- main.odd `täble_seq: nothing to do, next_id 500, cache 7"}, "500 7"},
		{"first free", "(0, 1, 7)", "11", []string{"UPDATE `DB`.`odd ``täble_seq` SET next_id = GREATEST(next_id, 11) WHERE id = 0;",
			"-- main.odd `täble_seq: next_id 1, cache 7 -> next_id 11, cache 7"}, "11 7"},
		{"cache", "(0, 50, 7)", "--cache 9", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 50, cache = 9 WHERE id = 0 AND next_id <=> 50 AND cache <=> 7;",
			"-- main.odd `täble_seq: next_id 50, cache 7 -> next_id 50, cache 9"}, "50 9"},
		{"both", "(0, 50, 7)", "500 --cache 9", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 500, cache = 9 WHERE id = 0 AND next_id <=> 50 AND cache <=> 7;",
			"-- main.odd `täble_seq: next_id 50, cache 7 -> next_id 500, cache 9"}, "500 9"},
		{"mends NULLs", "(0, NULL, NULL)", "500", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 500, cache = 1000 WHERE id = 0 AND next_id <=> NULL AND cache <=> NULL;",
			"-- main.odd `täble_seq: next_id NULL, cache NULL -> next_id 500, cache 1000"}, "500 1000"},
		{"mends a cache of 0", "(0, 50, 0)", "500", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 500, cache = 1000 WHERE id = 0 AND next_id <=> 50 AND cache <=> 0;",
			"-- main.odd `täble_seq: next_id 50, cache 0 -> next_id 500, cache 1000"}, "500 1000"},
		{"lower by force", "(0, 5000, 7)", "500 --force", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 500, cache = 7 WHERE id = 0 AND next_id <=> 5000 AND cache <=> 7;",
			"-- main.odd `täble_seq: next_id 5000, cache 7 -> next_id 500, cache 7"}, "500 7"},
		{"among the ids in use by force", "(0, 1, 7)", "--force 5", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = GREATEST(next_id, 5) WHERE id = 0;",
			"-- main.odd `täble_seq: next_id 1, cache 7 -> next_id 5, cache 7"}, "5 7"},
		{"used up, by force", "(0, 9223372036854775807, 0)", "500 --force", []string{
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 500, cache = 1000 WHERE id = 0 AND next_id <=> 9223372036854775807 AND cache <=> 0;",
			"-- main.odd `täble_seq: next_id 9223372036854775807, cache 0 -> next_id 500, cache 1000"}, "500 1000"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := oddPlace(t, s, tt.row)
				before := p.sequence(oddSequence)
				args := append([]string{oddSequence}, strings.Fields(tt.args)...)
				for _, run := range []struct {
					args []string
					row  string
				}{{append(args, "--dry-run"), before}, {args, tt.after}} {
					out, err := p.run(seqCommand("set"), run.args...)
					if err != nil {
						t.Fatal(err)
					}
					note := "-- " + ops.MemoryNote
					if strings.HasSuffix(tt.name, "by force") && !strings.HasPrefix(tt.name, "among") {
						note += ": ids repeat if one ran while next_id was lowered"
					}
					wantLines(t, out, append(tt.want[:len(tt.want):len(tt.want)], note)...)
					if got := p.sequence(oddSequence); got != run.row {
						t.Errorf("set %q: next_id and cache %s, want %s", run.args, got, run.row)
					}
				}
			})
		}
	})
}

func TestSeqSetRefuses(t *testing.T) {
	tests := []struct {
		name, row, args, want string
	}{
		{"lower", "(0, 5000, 7)", "500", "next_id is 5000: lowered to 500, ids would be given again that running seqgates hold in memory"},
		{"in use", "(0, 1, 7)", "10", "ids up to 10 are in use: from 10 on they would be given again; give at least 11, or --force"},
		{"past the type", "(0, 1, 7)", "2147483648", "the ids of the column that it fills end at 2147483647"},
		{"no row", "(1, 1, 7)", "500", "there is no row with id = 0: run seqgate init"},
		{"used up", "(0, 9223372036854775807, 0)", "9223372036854775807", "the ids are used up"},
		{"used up, cache", "(0, 9223372036854775807, 0)", "--cache 5", "the ids are used up"},
		{"NULL", "(0, NULL, 7)", "--cache 5", "next_id is NULL: give NEXT_ID too"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := oddPlace(t, s, tt.row)
				_, err := p.run(seqCommand("set"), append([]string{oddSequence}, strings.Fields(tt.args)...)...)
				wantError(t, p, err, 1, "sequence main.odd `täble_seq: ")
				wantError(t, p, err, 1, tt.want)
			})
		}
	})
}

func TestSeqReset(t *testing.T) {
	tests := []struct {
		name, row string
		args      []string
		want      string // the first line
		after     string
	}{
		{"raise", "(0, 5, 7)", nil, "UPDATE `DB`.`odd ``täble_seq` SET next_id = GREATEST(next_id, 11) WHERE id = 0;", "11 7"},
		{"nothing to do", "(0, 11, 7)", nil, "-- main.odd `täble_seq: nothing to do, next_id 11, cache 7", "11 7"},
		{"lower by force", "(0, 5000, 7)", []string{"--force"},
			"UPDATE `DB`.`odd ``täble_seq` SET next_id = 11, cache = 7 WHERE id = 0 AND next_id <=> 5000 AND cache <=> 7;", "11 7"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := oddPlace(t, s, tt.row)
				before := p.sequence(oddSequence)
				args := append([]string{oddSequence}, tt.args...)
				if _, err := p.run(seqCommand("reset"), append(args, "--dry-run")...); err != nil || p.sequence(oddSequence) != before {
					t.Errorf("dry run: %v, next_id and cache %s, want %s", err, p.sequence(oddSequence), before)
				}
				out, err := p.run(seqCommand("reset"), args...)
				if got, _, _ := strings.Cut(out, "\n"); err != nil || got != tt.want {
					t.Errorf("output %q, %v, want %q", got, err, tt.want)
				}
				if got := p.sequence(oddSequence); got != tt.after {
					t.Errorf("next_id and cache %s, want %s", got, tt.after)
				}
			})
		}
	})
}

func TestSeqResetRefuses(t *testing.T) {
	tests := []struct {
		name, statements, arg string
		code                  int
		want                  string
	}{
		{"lower", "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (3); CREATE TABLE t_seq " + vitessSequence + "; INSERT INTO t_seq VALUES (0, 9, 1)",
			"t_seq", 1, "next_id is 9: lowered to 4, ids would be given again"},
		{"fills nothing", "CREATE TABLE t_seq " + vitessSequence, "t_seq", 2, "it fills no table"},
		{"used up", "CREATE TABLE t (id TINYINT PRIMARY KEY); INSERT INTO t VALUES (127); CREATE TABLE t_seq " + vitessSequence + "; INSERT INTO t_seq VALUES (0, 9, 1)",
			"t_seq", 1, "table main.t: the ids are used up: id is a tinyint, which ends at 127"},
		{"no table", "CREATE TABLE t (id INT PRIMARY KEY)", "t_seq", 2, "there is no table main.t_seq"},
		{"no keyspace", "CREATE TABLE t (id INT PRIMARY KEY)", "mian.t_seq", 2, `there is no table main.mian.t_seq, and no keyspace "mian"`},
		{"no sequence", "CREATE TABLE t (id INT PRIMARY KEY)", "t", 1, "sequence main.t: the table is no sequence table"},
		{"two rows", "CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE t_seq (id INT, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'; INSERT INTO t_seq VALUES (0, 1, 1), (0, 2, 2)",
			"t_seq", 1, "there are 2 rows with id = 0"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "", strings.Split(tt.statements, "; ")...)
				_, err := p.run(seqCommand("reset"), tt.arg)
				wantError(t, p, err, tt.code, tt.want)
			})
		}
	})
}

// TestSeqResetShared holds that all columns that a sequence fills count.
func TestSeqResetShared(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, initVSchema, "CREATE TABLE a (id BIGINT PRIMARY KEY)", "INSERT INTO a VALUES (10)",
			"CREATE TABLE b (id CHAR(8) PRIMARY KEY, n INT UNSIGNED)", "INSERT INTO b VALUES ('x', 20)",
			"CREATE TABLE shared_seq "+vitessSequence, "INSERT INTO shared_seq VALUES (0, 3, 5)")
		if _, err := p.run(seqCommand("reset"), "shared_seq"); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("shared_seq"); got != "21 5" {
			t.Errorf("next_id and cache %s, want 21 5", got)
		}
		_, err := p.run(seqCommand("set"), "shared_seq", "4294967296")
		wantError(t, p, err, 1, "the ids of the column that it fills end at 4294967295")
	})
}

// TestEditLosesNothing holds that what others write between reading and writing the row counts.
func TestEditLosesNothing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 100, 7)")
		server := p.server()
		name := ops.TableName{Keyspace: "main", Table: "t_seq"}
		var out strings.Builder
		e := ops.Editor{Out: &out}

		// meanwhile makes a decision of an operator, and has somebody reserve ids each time after the row was read.
		meanwhile := func(w ops.WantedRow, reserve ...string) ops.Decision {
			return func(now *ops.SeqRow) (ops.SeqRow, error) {
				if len(reserve) > 0 {
					p.exec(reserve[0])
					reserve = reserve[1:]
				}
				return w.Decide(now)
			}
		}
		free := ops.FreeIDs{Next: 1, Last: math.MaxInt64}
		steps := []struct {
			name    string
			want    ops.WantedRow
			reserve []string
			err     string
			row     string
		}{
			{"cache", ops.WantedRow{Cache: 9}, []string{"UPDATE t_seq SET next_id = 200", "UPDATE t_seq SET next_id = 300"}, "", "300 9"},
			{"raise under the others", ops.WantedRow{Next: 500, Free: free}, []string{"UPDATE t_seq SET next_id = 400"}, "", "500 9"},
			{"raise over the others", ops.WantedRow{Next: 600, Free: free}, []string{"UPDATE t_seq SET next_id = 700"}, "next_id is 700: lowered to 600", "700 9"},
			{"lower by force", ops.WantedRow{Next: 5, Force: true}, []string{"UPDATE t_seq SET next_id = 800"},
				"next_id is not 700 any more: somebody reserves ids from it at this moment", "800 9"},
		}
		for _, step := range steps {
			err := e.Edit(t.Context(), server, name, meanwhile(step.want, step.reserve...))
			switch {
			case step.err == "" && err != nil:
				t.Errorf("%s: %v", step.name, err)
			case step.err != "":
				wantError(t, p, err, 1, step.err)
			}
			if got := p.sequence("t_seq"); got != step.row {
				t.Errorf("%s: next_id and cache %s, want %s", step.name, got, step.row)
			}
		}
	})
}

// TestEditInsertsOnce holds that of two who find no row one makes it, and the other raises it.
func TestEditInsertsOnce(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence)
		server := p.server()
		var group sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			group.Go(func() {
				e := ops.Editor{Out: new(strings.Builder)}
				errs[i] = e.Edit(t.Context(), server, ops.TableName{Keyspace: "main", Table: "t_seq"}, ops.RaiseTo(int64(10+i), 3))
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("t_seq"); got != "17 3" {
			t.Errorf("next_id and cache %s, want 17 3", got)
		}
	})
}

// TestEditGivesUp holds that a row that never stands still ends in an error.
func TestEditGivesUp(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 100, 7)")
		reads := 0
		err := ops.Editor{Out: new(strings.Builder)}.Edit(t.Context(), p.server(), ops.TableName{Keyspace: "main", Table: "t_seq"}, func(now *ops.SeqRow) (ops.SeqRow, error) {
			reads++
			p.exec("UPDATE t_seq SET next_id = next_id + 1")
			return ops.WantedRow{Cache: 9}.Decide(now)
		})
		wantError(t, p, err, 1, "others changed the row between reading and writing it 100 times")
		if reads != ops.EditTries {
			t.Errorf("read %d times, want %d", reads, ops.EditTries)
		}
	})
}

// server connects to the place's server as the commands do.
func (p *place) server() *ops.Server {
	p.t.Helper()
	cfg, err := (&source{file: p.from[1]}).load()
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := ops.Connect(context.Background(), cfg.Keyspaces[0], cfg.Keyspaces[0].Shards[0])
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.t.Errorf("close: %v", err)
		}
	})
	return s
}

// MAXVALUE is the end of a sequence, unless --force.
func TestSeqSetMaxValue(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE mx "+vitessSequence, "ALTER TABLE mx COMMENT 'vitess_sequence maxvalue=25'", "INSERT INTO mx VALUES (0, 1, 5)")
		_, err := p.run(seqCommand("set"), "mx", "26")
		wantError(t, p, err, 1, "its MAXVALUE is 25")
		for _, args := range [][]string{{"mx", "25"}, {"mx", "300", "--force"}} {
			if _, err := p.run(seqCommand("set"), args...); err != nil {
				t.Errorf("%v: %v", args, err)
			}
		}
		if out, err := p.run(seqCommand("list")); err != nil || !strings.Contains(out, "main.mx: the ids are used up: next_id 300 is past MAXVALUE 25") {
			t.Errorf("list says %s, %v", out, err)
		}
	})
}
