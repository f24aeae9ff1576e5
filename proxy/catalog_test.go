package proxy

import (
	"fmt"
	"testing"
)

// However many names clients write, few descriptions are kept.
func TestCatalogIsBounded(t *testing.T) {
	c := newCatalog(Config{})
	for i := range 3 * maxEntries {
		c.keep(catalogKey{table: fmt.Sprint(i)}, &catalogEntry{})
	}
	last := catalogKey{table: fmt.Sprint(3*maxEntries - 1)}
	if n := len(c.entries); n > maxEntries || c.entries[last] == nil {
		t.Errorf("got %d entries, the latest among them: %v; want %d at most, with the latest", n, c.entries[last] != nil, maxEntries)
	}
}

// By the convention only an integer is an id: a text that is the primary key is the
// client's own.
func TestTextKeyIsNoID(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE words (w VARCHAR(20) PRIMARY KEY, n INT)")
		createSequence(t, g.direct, "words_seq", 1, 10)
		_, err := g.open(t, "").ExecContext(t.Context(), "INSERT INTO words (n) VALUES (5)")
		if errno(err) != 1364 {
			t.Errorf("got %v, want the server's error 1364: no value for w", err)
		}
	})
}
