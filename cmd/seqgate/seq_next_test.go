package main

import (
	"fmt"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestSeqNext(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE `ünïts x``y_seq` "+vitessSequence, "INSERT INTO `ünïts x``y_seq` VALUES (0, 41, 1000)")
		steps := []struct {
			args []string
			want string // of the output
			row  string // afterwards
		}{
			{[]string{"ünïts x`y_seq"}, "41 41\n", "42 1000"},
			{[]string{"main.ünïts x`y_seq", "10"}, "42 51\n", "52 1000"},
			{[]string{"ünïts x`y_seq", "2500"}, "52 2551\n", "2552 1000"},
		}
		for _, step := range steps {
			out, err := p.run(seqCommand("next"), step.args...)
			if err != nil || out != step.want {
				t.Errorf("next %q: %q, %v, want %q", step.args, out, err, step.want)
			}
			if got := p.sequence("ünïts x`y_seq"); got != step.row {
				t.Errorf("next %q: next_id and cache %s, want %s", step.args, got, step.row)
			}
		}
	})
}

func TestSeqNextStrategies(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 5)")
		for i, strategy := range []string{"for_update", "cas", "increment"} {
			t.Setenv("SEQGATE_SEQUENCES_REFILL", strategy)
			out, err := p.run(seqCommand("next"), "t_seq", "3")
			if want := fmt.Sprintln(1+3*i, 3+3*i); err != nil || out != want {
				t.Errorf("%s: %q, %v, want %q", strategy, out, err, want)
			}
		}
	})
}

func TestSeqNextRefuses(t *testing.T) {
	tests := []struct {
		name, table, row, arg string
		code                  int
		want                  string
	}{
		{"no table", "", "", "t_seq", 2, "there is no table main.t_seq"},
		{"no sequence", "(id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "(0, 1, 1)", "t_seq", 1, "is not a sequence: the comment of its table"},
		{"no row", vitessSequence, "(1, 1, 1)", "t_seq", 1, "has no row with id 0"},
		{"used up", vitessSequence, "(0, 9223372036854775807, 0)", "t_seq", 1, "is exhausted"},
		{"no such keyspace", "", "", "other.t_seq", 2, `there is no table main.other.t_seq, and no keyspace "other"`},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "")
				if tt.table != "" {
					p.exec("CREATE TABLE t_seq "+tt.table, "INSERT INTO t_seq VALUES "+tt.row)
				}
				out, err := p.run(seqCommand("next"), tt.arg)
				wantError(t, p, err, tt.code, tt.want)
				if out != "" {
					t.Errorf("output %q, want none", out)
				}
			})
		}
	})
}

// TestSeqNextTogether holds that blocks taken by hand at the same time are apart.
func TestSeqNextTogether(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 5)")
		var mu sync.Mutex
		seen := map[string]bool{}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				out, err := p.run(seqCommand("next"), "t_seq", "7")
				mu.Lock()
				defer mu.Unlock()
				if err != nil || seen[out] {
					t.Errorf("%q, %v, want a block that nobody else has", out, err)
				}
				seen[out] = true
			})
		}
		group.Wait()
		if got := p.sequence("t_seq"); got != "57 5" {
			t.Errorf("next_id and cache %s, want 57 5", got)
		}
	})
}
