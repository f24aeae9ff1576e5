package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
)

// silent is told of a server that does not answer a new connection, by the engine, and of one that falls silent later, by
// errSilent.
const silent = "gave no answer in "

// TestFrozenServer holds that no command waits without end for a server that takes connections and does not answer.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 1)")
		s.Freeze(t)
		defer s.Thaw(t)
		var group sync.WaitGroup
		began := time.Now()
		group.Go(func() {
			out, err := p.run(checkCommand)
			if err != nil || !strings.Contains(out, "warning: main: the server cannot be reached, its tables are not checked: keyspace main at ") || !strings.Contains(out, silent) {
				t.Errorf("check: %v\n%s", err, out)
			}
		})
		for _, args := range []string{"list", "next t_seq", "set t_seq 500"} {
			group.Go(func() {
				command, rest, _ := strings.Cut(args, " ")
				_, err := p.run(seqCommand(command), strings.Fields(rest)...)
				wantError(t, p, err, 1, silent)
			})
		}
		group.Wait()
		if took := time.Since(began); took > 4*ops.Silence {
			t.Errorf("the commands took %v, want about %v", took, 2*ops.Silence)
		}
	})
}

// TestSlowSearch holds that a server may take its time for an answer while it answers others.
func TestSlowSearch(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		t.Parallel()
		server := newPlace(t, s, "").server()
		var slept int
		if err := server.DB.QueryRow("SELECT SLEEP(12)").Scan(&slept); err != nil || slept != 0 {
			t.Errorf("a search of 12 s: %d, %v, want its answer", slept, err)
		}
	})
}
