package vschema_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

func newVindex(tb testing.TB, typ string, params map[string]string) vschema.Vindex {
	tb.Helper()
	v, err := vschema.NewVindex(typ, params, readRegions)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func text(s string) []vschema.Value { return []vschema.Value{vschema.Text([]byte(s))} }

func TestNewVindexErrors(t *testing.T) {
	tests := []struct {
		typ    string
		params map[string]string
		want   string
	}{
		{"hsah", nil, `unknown vindex type "hsah": did you mean "hash"?`},
		{"lookup", nil, `vindex type "lookup" looks keyspace ids up in a table, and is not supported yet in this version`},
		{"hash", map[string]string{"b": "1", "a": "2"}, "a: unknown param: this type has none\nb: unknown param: this type has none"},
		{"region_json", map[string]string{"region_bytes": "1", "region_map": "x"}, "region_map: file does not exist"},
	}
	for _, tt := range tests {
		_, err := vschema.NewVindex(tt.typ, tt.params, readRegions)
		if err == nil || err.Error() != tt.want {
			t.Errorf("NewVindex(%q, %v): error %v, want %s", tt.typ, tt.params, err, tt.want)
		}
	}
	_, err := vschema.NewVindex("region_json", map[string]string{"region_bytes": "1", "region_map": "x"}, nil)
	if err == nil || err.Error() != "region_map: a vschema that is not a file cannot name one" {
		t.Errorf("without files: error %v", err)
	}
}

// TestLooseTexts holds which texts share a shard.
func TestLooseTexts(t *testing.T) {
	same := [][]string{
		{"a", "A", "á", "Ä", "a ", "A   ", "a\u0301", "\u200ba"},
		{"ss", "ß", "SS"},
		{"", " ", "\u0000"},
		{"か", "カ", "ｶ"},
	}
	for _, typ := range []string{"unicode_loose_md5", "unicode_loose_xxhash"} {
		v := newVindex(t, typ, nil)
		seen := map[string]string{}
		for _, group := range same {
			first := mapped(t, v, text(group[0]))
			if other, ok := seen[first]; ok {
				t.Errorf("%s: %q and %q are the same", typ, group[0], other)
			}
			seen[first] = group[0]
			for _, s := range group[1:] {
				if mapped(t, v, text(s)) != first {
					t.Errorf("%s: %q and %q are not the same", typ, group[0], s)
				}
			}
		}
		long := strings.Repeat("Lång ", 2000)
		if mapped(t, v, text(long)) != mapped(t, v, text(strings.ToUpper(long))) {
			t.Errorf("%s: a long text in two cases is not the same", typ)
		}
	}
}

func mapped(t *testing.T, v vschema.Vindex, values []vschema.Value) string {
	t.Helper()
	id, err := v.Map(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	return string(id)
}

// TestSameTexts holds which values are the same to the vindexes over text.
func TestSameTexts(t *testing.T) {
	for _, typ := range []string{"xxhash", "binary", "binary_md5", "unicode_loose_md5", "unicode_loose_xxhash", "cfc"} {
		v := newVindex(t, typ, nil)
		same := [][2]vschema.Value{
			{vschema.Null(), vschema.Text(nil)},
			{vschema.Int(-1), vschema.Text([]byte("-1"))},
			{vschema.Uint(1), vschema.Int(1)},
			{vschema.Bits([]byte("a")), vschema.Text([]byte("a"))},
		}
		for _, pair := range same {
			if a, b := mapped(t, v, pair[:1]), mapped(t, v, pair[1:]); a != b {
				t.Errorf("%s: %v gives %x, %v gives %x", typ, pair[0], a, pair[1], b)
			}
		}
		if mapped(t, v, text("01")) == mapped(t, v, text("1")) {
			t.Errorf("%s: '01' and '1' are the same", typ)
		}
	}
}

// TestDocumentedVSchema loads the vschema of the manual.
func TestDocumentedVSchema(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "sharding.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no JSON in the page")
	}
	if _, err := vschema.Load("sharding.md", []byte(example)); err != nil {
		t.Error(err)
	}
	for _, typ := range []string{"hash", "multicol", "modulo", "region_json", "consistent_lookup_unique"} {
		if !strings.Contains(string(page), "`"+typ+"`") {
			t.Errorf("the page does not tell of the type %s", typ)
		}
	}
}

// TestMapAppends holds that what is in dst stays, with and without an error.
func TestMapAppends(t *testing.T) {
	vindexes := map[string]map[string]string{
		"hash": nil, "xxhash": nil, "numeric": nil, "reverse_bits": nil, "binary": nil, "binary_md5": nil,
		"unicode_loose_md5": nil, "unicode_loose_xxhash": nil, "null": nil,
		"numeric_static_map":  {"json": `{"7": 1}`},
		"cfc":                 {"hash": "md5", "offsets": "[1,2]"},
		"region_experimental": {"region_bytes": "2"},
		"region_json":         {"region_bytes": "1", "region_map": "region.json"},
		"multicol":            {"column_count": "3", "column_bytes": "2", "column_vindex": "binary"},
		"modulo":              {"shards": "a,b,c"},
	}
	for typ, params := range vindexes {
		v := newVindex(t, typ, params)
		for _, value := range []vschema.Value{vschema.Int(7), vschema.Null(), vschema.Text([]byte("\xff")), vschema.Text([]byte("DE"))} {
			values := make([]vschema.Value, v.Columns())
			for i := range values {
				values[i] = value
			}
			alone, wantErr := v.Map(nil, values)
			got, err := v.Map([]byte("before"), values)
			if (err == nil) != (wantErr == nil) || err == nil && string(got) != "before"+string(alone) || !bytes.HasPrefix(got, []byte("before")) {
				t.Errorf("%s of %v: appended to \"before\": %q, %v, alone: %q, %v", typ, value, got, err, alone, wantErr)
			}
		}
	}
}

func TestModulo(t *testing.T) {
	for _, list := range []string{"db0, db1, db2, db3", "3,0,2,1", "-40,40-80,80-c0,c0-", "c0-,80-c0,-40,40-80", "0", "-"} {
		t.Run(list, func(t *testing.T) {
			names := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
			shards := newKeyspaceShards(t, list, names)
			v := newVindex(t, "modulo", map[string]string{"shards": list})
			for id := range 100 {
				ksid, err := v.Map(nil, []vschema.Value{vschema.Int(int64(id))})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := shards.Name(shards.Find(ksid)), names[id%len(names)]; got != want {
					t.Errorf("id %d, keyspace id %x: shard %s, want %s", id, ksid, got, want)
				}
			}
			if _, err := v.Map(nil, []vschema.Value{vschema.Int(-1)}); !errors.Is(err, vschema.ErrNoShard) {
				t.Errorf("-1: error %v, want ErrNoShard", err)
			}
		})
	}
}

func newKeyspaceShards(t *testing.T, list string, names []string) *vschema.Shards {
	t.Helper()
	shards, err := loadKeyspace(t, fmt.Sprintf(`"m": {"type": "modulo", "params": {"shards": %q}}`, list)).NewShards(names)
	if err != nil {
		t.Fatal(err)
	}
	return shards
}

func loadKeyspace(t *testing.T, vindexes string) *vschema.Keyspace {
	t.Helper()
	v, err := vschema.Load("v.json", []byte(`{"keyspaces": {"k": {"sharded": true, "vindexes": {`+vindexes+`}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := v.Keyspace("k")
	return k
}

func TestKeyspaceShardsErrors(t *testing.T) {
	a, b := `"a": {"type": "modulo", "params": {"shards": "x,y"}}`, `"b": {"type": "modulo", "params": {"shards": "y,x"}}`
	tests := []struct {
		vindexes string
		names    []string
		want     string
	}{
		{`"h": {"type": "hash"}`, []string{"x", "y"}, `shard "x" is no key range`},
		{a, []string{"x", "z"}, `the vindex "a" lists the shards x, y, but the keyspace has x, z`},
		{a + "," + b, []string{"x", "y"}, `the vindexes "a" and "b" list the shards in different orders`},
	}
	for _, tt := range tests {
		_, err := loadKeyspace(t, tt.vindexes).NewShards(tt.names)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s with %v: error %v, want %s", tt.vindexes, tt.names, err, tt.want)
		}
	}
}

func TestColumnVindexErrors(t *testing.T) {
	v, err := vschema.Load("v.json", []byte(`{"keyspaces": {"k": {"sharded": true,
		"vindexes": {"h": {"type": "hash"}, "p": {"type": "region_experimental", "params": {"region_bytes": "1"}},
			"u": {"type": "unicode_loose_md5"}},
		"tables": {"t": {"column_vindexes": [{"column": "id", "name": "h"}, {"column": "name", "name": "u"}]},
			"w": {"column_vindexes": [{"columns": ["region", "id"], "name": "p"}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := v.Keyspace("k")
	tests := []struct {
		table   string
		vindex  int
		values  []vschema.Value
		want    string
		noShard bool
	}{
		{"t", 0, text("x"), `vindex h: column id: "x" is not a whole number from 0 to 18446744073709551615`, true},
		{"t", 1, text("\xff"), `vindex u: column name: "\xff" is not valid UTF-8`, false},
		{"w", 0, []vschema.Value{vschema.Int(1), vschema.Null()}, `vindex p: column id: NULL is not a whole number from 0 to 18446744073709551615`, true},
		{"t", 0, []vschema.Value{vschema.Int(-1)}, "", false},
	}
	for _, tt := range tests {
		table, _ := k.Table(tt.table)
		_, err := table.ColumnVindexes[tt.vindex].Map(nil, tt.values)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || errors.Is(err, vschema.ErrNoShard) != tt.noShard {
			t.Errorf("error %s, no shard %v, want %s, %v", got, errors.Is(err, vschema.ErrNoShard), tt.want, tt.noShard)
		}
	}
}

// TestVindexesAreShared maps the same values in many goroutines: run it with -race.
func TestVindexesAreShared(t *testing.T) {
	for _, typ := range []string{"hash", "xxhash", "unicode_loose_md5", "unicode_loose_xxhash"} {
		v := newVindex(t, typ, nil)
		want := mapped(t, v, text("123"))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					if id, err := v.Map(nil, text("123")); err != nil || string(id) != want {
						t.Errorf("%s: %x, %v, want %x", typ, id, err, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestMapDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 32)
	values := []vschema.Value{vschema.Int(1234567890123)}
	for _, typ := range []string{"hash", "xxhash", "numeric", "reverse_bits", "binary", "binary_md5", "null"} {
		v := newVindex(t, typ, nil)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := v.Map(dst, values); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 0 {
			t.Errorf("%s of an integer allocates %v times, want 0", typ, allocs)
		}
	}
}

// FuzzVindexes holds that no bytes make a vindex panic, and that it gives the same keyspace id again.
func FuzzVindexes(f *testing.F) {
	for _, s := range []string{"", "1", "-1", " 01\t", "18446744073709551616", "Straße ", "\xff", "a\u0301\u0323"} {
		f.Add([]byte(s))
	}
	vindexes := []vschema.Vindex{
		newVindex(f, "hash", nil), newVindex(f, "xxhash", nil), newVindex(f, "numeric", nil), newVindex(f, "reverse_bits", nil),
		newVindex(f, "binary", nil), newVindex(f, "binary_md5", nil), newVindex(f, "unicode_loose_md5", nil),
		newVindex(f, "unicode_loose_xxhash", nil), newVindex(f, "null", nil),
		newVindex(f, "cfc", map[string]string{"hash": "xxhash64", "offsets": "[1,3]"}),
		newVindex(f, "modulo", map[string]string{"shards": "a,b,c"}),
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range vindexes {
			id, err := v.Map(nil, []vschema.Value{vschema.Text(b)})
			again, err2 := v.Map(nil, []vschema.Value{vschema.Text(b)})
			if !bytes.Equal(id, again) || (err == nil) != (err2 == nil) {
				t.Errorf("%T of %q: %x, %v, then %x, %v", v, b, id, err, again, err2)
			}
		}
	})
}

func BenchmarkMap(b *testing.B) {
	for _, bench := range []struct {
		name, typ string
		params    map[string]string
		value     vschema.Value
	}{
		{"hash/int", "hash", nil, vschema.Int(1234567890123)},
		{"xxhash/int", "xxhash", nil, vschema.Int(1234567890123)},
		{"reverse_bits/int", "reverse_bits", nil, vschema.Int(1234567890123)},
		{"binary_md5/text", "binary_md5", nil, vschema.Text([]byte("user@example.com"))},
		{"unicode_loose_xxhash/text", "unicode_loose_xxhash", nil, vschema.Text([]byte("user@example.com"))},
		{"modulo/int", "modulo", map[string]string{"shards": "a,b,c,d"}, vschema.Int(1234567890123)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			v := newVindex(b, bench.typ, bench.params)
			values := []vschema.Value{bench.value}
			dst := make([]byte, 0, 32)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Map(dst, values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
