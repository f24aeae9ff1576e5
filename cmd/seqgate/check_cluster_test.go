package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A server whose own ids are spaced is told of.
func TestCheckIncrement(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE users (id BIGINT PRIMARY KEY)", "CREATE TABLE users_seq "+vitessSequence, "INSERT INTO users_seq VALUES (0, 10, 5)")
		out, err := p.run(checkCommand)
		if err != nil || !strings.Contains(out, "warning: main: auto_increment_increment is 7") {
			t.Errorf("%v\n%s", err, out)
		}
	}, "--auto-increment-increment=7")
}
