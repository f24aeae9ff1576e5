package vschema_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

func TestParseKeyRange(t *testing.T) {
	tests := []struct{ name, want string }{ // want is the range's name, or the error
		{"-", "-"},
		{"0", "-"},
		{"-80", "-80"},
		{"80-", "80-"},
		{"40-80", "40-80"},
		{"0aff-0B00", "0aff-0b"},
		{"00-8000", "-80"},
		{"80-8001", "80-8001"},
		{"", `shard "" is no key range: write one such as "-80", "40-80" or "80-"`},
		{"80", `shard "80" is no key range: write one such as "-80", "40-80" or "80-"`},
		{"8-", `shard "8-": "8" is not hexadecimal, with two digits for each byte`},
		{"-g0", `shard "-g0": "g0" is not hexadecimal, with two digits for each byte`},
		{"40-80-", `shard "40-80-": "80-" is not hexadecimal, with two digits for each byte`},
		{"80-40", `shard "80-40" is empty: its end is not after its start`},
		{"80-8000", `shard "80-8000" is empty: its end is not after its start`},
		{"-00", `shard "-00" is empty: no keyspace id is before 00`},
	}
	for _, tt := range tests {
		r, err := vschema.ParseKeyRange(tt.name)
		got := r.String()
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("ParseKeyRange(%q) = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestNewShardsErrors(t *testing.T) {
	tests := []struct {
		names string // between commas
		want  []string
	}{
		{"", []string{`a keyspace without shards: write one, such as "-"`}},
		{"-80,x,y-", []string{
			`shard "x" is no key range: write one such as "-80", "40-80" or "80-"`,
			`shard "y-": "y" is not hexadecimal, with two digits for each byte`,
		}},
		{"-80", []string{"no shard holds the keyspace ids from 80 on: add the shard 80-"}},
		{"80-", []string{"no shard holds the keyspace ids before 80: add the shard -80"}},
		{"80-c0,-40", []string{
			"no shard holds the keyspace ids from 40 up to 80, between -40 and 80-c0: add the shard 40-80",
			"no shard holds the keyspace ids from c0 on: add the shard c0-",
		}},
		{"-80,40-", []string{"shards -80 and 40- overlap: let one end where the other starts"}},
		{"-,80-", []string{"shards - and 80- overlap: let one end where the other starts"}},
		{"-80,-80,80-", []string{"shards -80 and -80 overlap: let one end where the other starts"}},
	}
	for _, tt := range tests {
		names := strings.FieldsFunc(tt.names, func(r rune) bool { return r == ',' })
		_, err := vschema.NewShards(names)
		if err == nil {
			t.Errorf("%s: no error", tt.names)
			continue
		}
		if got, want := err.Error(), strings.Join(tt.want, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.names, got, want)
		}
	}
}

func TestOverlapping(t *testing.T) {
	shards := newShards(t, "c0-", "-40", "80-c0", "40-80")
	tests := []struct{ r, first, last string }{
		{"-", "-40", "c0-"},
		{"40-80", "40-80", "40-80"},
		{"41-80", "40-80", "40-80"},
		{"40-8001", "40-80", "80-c0"},
		{"-40", "-40", "-40"},
		{"ff-", "c0-", "c0-"},
		{"3fff-c001", "-40", "c0-"},
	}
	for _, tt := range tests {
		r, err := vschema.ParseKeyRange(tt.r)
		if err != nil {
			t.Fatal(err)
		}
		first, last := shards.Overlapping(r)
		if shards.Name(first) != tt.first || shards.Name(last) != tt.last {
			t.Errorf("%s overlaps %s to %s, want %s to %s", tt.r, shards.Name(first), shards.Name(last), tt.first, tt.last)
		}
	}
}

func newShards(tb testing.TB, names ...string) *vschema.Shards {
	tb.Helper()
	shards, err := vschema.NewShards(names)
	if err != nil {
		tb.Fatal(err)
	}
	return shards
}

// FuzzShards cuts the keyspace ids at random places, and holds that each id is in the one shard that Find gives, whose
// range has it, that Overlapping gives the shards whose range intersects, and that a shard left out is told as a gap.
func FuzzShards(f *testing.F) {
	f.Add([]byte{0x80}, []byte{0x80, 0x00}, uint64(1))
	f.Add([]byte{0x40, 0, 0x80, 0, 0xc0, 1}, []byte{0xc0}, uint64(2))
	f.Fuzz(func(t *testing.T, cuts, id []byte, seed uint64) {
		names := randomShards(cuts)
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		shards := newShards(t, names...)
		found := shards.Name(shards.Find(id))
		var other vschema.KeyRange
		if len(cuts) > 0 {
			other = vschema.KeyRange{Start: id, End: append(bytes.Clone(id), 1)}
		}
		first, last := shards.Overlapping(other)
		for i := range shards.Len() {
			r, err := vschema.ParseKeyRange(shards.Name(i))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := r.Contains(id), shards.Name(i) == found; got != want {
				t.Errorf("%x is in %s: %v; of %v, Find gives %s", id, shards.Name(i), got, names, found)
			}
			if got, want := first <= i && i <= last, r.Intersects(other); got != want {
				t.Errorf("%v overlaps %s: %v, want %v", other, shards.Name(i), got, want)
			}
			if !(vschema.KeyRange{}).ContainsRange(r) || shards.Len() > 1 && r.ContainsRange(vschema.KeyRange{}) {
				t.Errorf("shard %s and the range of all ids contain each other wrongly", shards.Name(i))
			}
		}
		if _, err := vschema.NewShards(names[1:]); err == nil {
			t.Errorf("%v without %s is taken as complete", names, names[0])
		}
	})
}

// randomShards makes shards of the two-byte borders in cuts.
func randomShards(cuts []byte) []string {
	var borders []string
	for i := 0; i+1 < len(cuts); i += 2 {
		if cuts[i] != 0 || cuts[i+1] != 0 {
			borders = append(borders, hex.EncodeToString(cuts[i:i+2]))
		}
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	names, from := []string{}, ""
	for _, border := range borders {
		names, from = append(names, from+"-"+border), border
	}
	return append(names, from+"-")
}

func BenchmarkFind(b *testing.B) {
	shards := newShards(b, "-40", "40-80", "80-c0", "c0-")
	id := vschema.KeyspaceID{0x16, 0x6b, 0x40, 0xb4, 0x4a, 0xba, 0x4b, 0xd6}
	b.ReportAllocs()
	for b.Loop() {
		shards.Find(id)
	}
}
