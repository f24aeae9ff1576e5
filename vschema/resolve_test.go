package vschema

import "testing"

func TestSplitName(t *testing.T) {
	tests := []struct {
		in, keyspace, table string
		ok                  bool
	}{
		{"s", "", "s", true},
		{"k.s", "k", "s", true},
		{"`s`", "", "s", true},
		{"`k`.s", "k", "s", true},
		{"k.`s.t`", "k", "s.t", true},
		{"`a``b`.`c``d`", "a`b", "c`d", true},
		{"", "", "", false},
		{".", "", "", false},
		{"k.", "", "", false},
		{".s", "", "", false},
		{"a.b.c", "", "", false},
		{"`s", "", "", false},
		{"``", "", "", false},
		{"`k`s", "", "", false},
		{"k`s", "", "", false},
		{"`k`.", "", "", false},
		{"`k``", "", "", false},
	}
	for _, tt := range tests {
		keyspace, table, ok := splitName(tt.in)
		if ok != tt.ok || ok && (keyspace != tt.keyspace || table != tt.table) {
			t.Errorf("splitName(%q) = %q, %q, %v, want %q, %q, %v", tt.in, keyspace, table, ok, tt.keyspace, tt.table, tt.ok)
		}
	}
}

// FuzzSplitName holds that a joined name is split into its parts again.
func FuzzSplitName(f *testing.F) {
	f.Add("main", "users_seq")
	f.Add("a.b", "c`d")
	f.Fuzz(func(t *testing.T, keyspace, table string) {
		if keyspace == "" || table == "" {
			t.Skip("names are not empty")
		}
		k, s, ok := splitName(joinName(keyspace, table))
		if !ok || k != keyspace || s != table {
			t.Errorf("splitName(%q) = %q, %q, %v, want %q, %q", joinName(keyspace, table), k, s, ok, keyspace, table)
		}
	})
}
