package keyed

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ name, key, want string }{
		{"plain", "user-42", "user-42"},
		{"empty", "", ""},
		{"case", "User-42", "user-42"},
		{"spaces around", " a b  ", "a b"},
		{"control characters", "a\x00b\x1f\x7f", "ab"},
		{"double s", "Class", "clas"},
		{"accents", "\u00c9t\u00e9", "ete"},
		{"accents written apart", "E\u0301te\u0301", "ete"},
		{"sharp s", "Stra\u00dfe", "strase"},
		{"full width", "\uff21\uff11", "a1"},
		{"ligature", "\ufb01n", "fin"},
		{"no-break space", "a\u00a0b\u00a0", "a b"},
		{"soft hyphen", "a\u00adb", "ab"},
		{"sigma at the end", "\u03a3\u03b1\u03c2", "\u03c3\u03b1\u03c3"},
		{"supplementary characters", "\U0001f363\U0001f37a", "\ufffd\ufffd"},
		{"no UTF-8", "A\xff ", "A\xff "},
		{"integer", "42", "42"},
		{"leading zeros", "0042", "42"},
		{"sign", "+42", "42"},
		{"negative", "-042", "-42"},
		{"zero", "-0", "0"},
		{"spaces around an integer", " 42 ", "42"},
		{"decimal", "42.0", "42"},
		{"rounded down", "42.49", "42"},
		{"rounded up", "42.5", "43"},
		{"rounded up to more digits", "99.5", "100"},
		{"rounded from nothing", ".5", "1"},
		{"rounded to nothing", "-.4", "0"},
		{"negative rounded away from zero", "-42.5", "-43"},
		{"exponent", "4.2E1", "42"},
		{"exponent with a plus", "42e+1", "420"},
		{"negative exponent", "425e-1", "43"},
		{"small", "1e-5", "0"},
		{"just too small", "5e-2", "0"},
		{"an exponent beyond numbers", "1e99", "1e99"},
		{"more digits than an integer has", "018446744073709551616", "18446744073709551616"},
		{"not a number: suffix", "42x", "42x"},
		{"not a number: two points", "1.2.3", "1.2.3"},
		{"not a number: date", "2024-01-02", "2024-01-02"},
		{"not a number: sign", "-", "-"},
		{"not a number: exponent", "e5", "e5"},
		{"not a number: point", ".", "."},
		{"full width digits", "\uff14\uff12", "42"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(canonical([]byte("x"), []byte(test.key))); got != "x"+test.want {
				t.Errorf("canonical(%q): got %q, want %q", test.key, got[1:], test.want)
			}
		})
	}
}

// The hash decides where a key is counted: these values hold for ever.
func TestHash(t *testing.T) {
	for key, want := range map[string]uint64{
		"":        0xef46db3751d8e999, // the first three as the reference implementation's XXH64
		"a":       0xd24ec4f1a98c6e5b,
		"foobar":  0xa2aa05ed9085aaf9,
		"FooBar ": 0xa2aa05ed9085aaf9,
	} {
		if got := hash([]byte(key)); got != want {
			t.Errorf("hash(%q): got %#x, want %#x", key, got, want)
		}
	}
}

func TestHashSpreadsKeys(t *testing.T) {
	const keys = 200_000
	for _, format := range []string{"%d", "user-%d", "conversation:%d:messages", "session-%032x"} {
		var n [DefaultSections]int
		for i := range keys {
			n[hash(fmt.Appendf(nil, format, i))%DefaultSections]++
		}
		mean := keys / DefaultSections
		for section, got := range n {
			if got < mean/2 || got > mean*3/2 {
				t.Errorf("%s: got %d keys in section %d, want about %d", format, got, section, mean)
			}
		}
	}
}

func TestHashDoesNotAllocate(t *testing.T) {
	key := []byte("3F2504E0-4F89-41D3-9A0C-0305E82C3301")
	if got := testing.AllocsPerRun(100, func() { hash(key) }); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, key := range []string{"user-42", " 042.50e-1 ", "\u00c9t\u00e9", "\u00df\u1e9e", "a\xff", "\u0130\u0131", "9.5", "\ufdfa", "s\u0301s"} {
		f.Add([]byte(key))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		before := bytes.Clone(key)
		once := canonical(nil, key)
		if !bytes.Equal(key, before) {
			t.Fatalf("canonical changed its argument from %q to %q", before, key)
		}
		if again := canonical(nil, once); !bytes.Equal(again, once) {
			t.Errorf("canonical(%q): got %q, and of that %q, want the same again", key, once, again)
		}
		if !utf8.Valid(key) {
			return
		}
		if padded := canonical(nil, append(before, ' ')); !bytes.Equal(padded, once) {
			t.Errorf("canonical of %q with a space: got %q, want %q", key, padded, once)
		}
		if isASCII(key) {
			if upper := canonical(nil, []byte(strings.ToUpper(string(key)))); !bytes.Equal(upper, once) {
				t.Errorf("canonical of %q in upper case: got %q, want %q", key, upper, once)
			}
		}
	})
}

func TestSectionOf(t *testing.T) {
	for _, test := range []struct {
		key  string
		like string
	}{{"USER-1 ", "user-1"}, {"042", "42"}, {"Ünal", "unal"}} {
		got, want := SectionOf([]byte(test.key), 1024), SectionOf([]byte(test.like), 1024)
		if got != want || got != int(hash([]byte(test.like))%1024) {
			t.Errorf("%q: got section %d, want %d as of %q", test.key, got, want, test.like)
		}
	}
}
