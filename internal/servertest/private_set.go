package servertest

import (
	"fmt"
	"sync"
	"testing"
)

// PrivateSet is like [Private] with n servers of a kind at a time, started at once.
func PrivateSet(t *testing.T, n int, f func(t *testing.T, servers []*Server), options ...string) {
	t.Helper()
	for _, name := range []string{nameMariaDB, nameMySQL97} {
		t.Run(name, func(t *testing.T) {
			first, err := launch(name, options...) // which makes the template of the others, if there is none
			skipOrFail(t, err)
			servers := own(t, first)
			f(t, append(servers, launchMore(t, name, n-1, options...)...))
		})
	}
}

func launchMore(t *testing.T, name string, n int, options ...string) []*Server {
	t.Helper()
	all, errs := make([]*Server, n), make([]error, n)
	var starting sync.WaitGroup
	for i := range n {
		starting.Go(func() { all[i], errs[i] = launch(name, options...) })
	}
	starting.Wait()
	for i, err := range errs {
		if err == nil {
			own(t, all[i])
		}
	}
	for i, err := range errs {
		if err != nil {
			t.Fatal(fmt.Errorf("server %d: %w", i+2, err))
		}
	}
	return all
}

// own makes s the test's own, which drops it at its end.
func own(t *testing.T, s *Server) []*Server {
	s.owned = true
	t.Cleanup(func() { check(t, s, "drop", s.engine.drop()) })
	return []*Server{s}
}
