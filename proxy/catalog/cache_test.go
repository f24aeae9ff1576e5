package catalog

import (
	"database/sql"
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// However many names clients write, few descriptions are kept.
func TestCatalogIsBounded(t *testing.T) {
	c := NewCache(CacheConfig{})
	for i := range 3 * maxEntries {
		c.keep(catalogKey{Table: fmt.Sprint(i)}, &Entry{})
	}
	last := catalogKey{Table: fmt.Sprint(3*maxEntries - 1)}
	if n := len(c.entries); n > maxEntries || c.entries[last] == nil {
		t.Errorf("got %d entries, the latest among them: %v; want %d at most, with the latest", n, c.entries[last] != nil, maxEntries)
	}
}

// Names of sequences that come in turn, each less often than tables are asked for again, cost the server no question; what
// is no sequence table does.
func TestCatalogKnowsSequencesForLonger(t *testing.T) {
	c := NewCache(CacheConfig{Logger: slog.New(slog.DiscardHandler)})
	began := time.Now()
	away, err := sql.Open("mysql", "user@tcp(127.0.0.1:1)/d") // so that whoever has to ask the server fails
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	k := &Keyspace{Name: "k", Database: "d", DB: away}
	columns := func(names ...string) (info Table) {
		info.Exists = true
		for _, name := range names {
			info.Columns = append(info.Columns, Column{Name: name})
		}
		return info
	}
	for _, test := range []struct {
		name  string
		table Table
		age   time.Duration
		known bool
	}{
		{"fresh_seq", columns("id", "next_id", "cache"), 0, true},
		{"used_seq", columns("id", "next_id", "cache"), sequenceFresh - time.Second, true},
		{"old_seq", columns("id", "next_id", "cache"), sequenceFresh, false},
		{"absent_seq", Table{}, 2 * Fresh, false},
		{"plain", columns("id"), 2 * Fresh, false},
		{"both", columns("id", "next_id", "cache", "next"), 2 * Fresh, false},
	} {
		key := catalogKey{k.String(), k.Database, test.name}
		c.Now = func() time.Time { return began }
		c.keep(key, &Entry{Table: test.table, asked: began})
		c.Now = func() time.Time { return began.Add(test.age) }
		if got := c.wasSequence(key); got != test.known {
			t.Errorf("%s after %v: got %v, want %v", test.name, test.age, got, test.known)
		}
		if !test.known {
			continue
		}
		if s, known := c.KnownSource(k, k.Database, test.name, false); !known || s.Err != nil || !s.Ours || s.Name.Table != test.name {
			t.Errorf("%s: got %v, known %t, want the sequence", test.name, s, known)
		}
	}
	if s, known := c.KnownSource(k, k.Database, "unknown_seq", false); known {
		t.Errorf("a name that is not known: got %v", s)
	}
	if s := c.Source(t.Context(), k, k.Database, "unknown_seq", false); s.Err == nil {
		t.Error("a name that is not known: got no error, want that of asking the server")
	}
}
