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
