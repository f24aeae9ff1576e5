package merge

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestDecimalAdd(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"1", "2", "3"}, {"1.50", "-1.5", "0.00"}, {"-0.01", "0", "-0.01"}, {"0.001", "10", "10.001"}, {"-5", "4.25", "-0.75"},
		{"99999999999999999999999999999999999999999999999999999999999999999", "1", "1" + strings.Repeat("0", 65)},
		{"-123456789012345678901234567890.5", "0.25", "-123456789012345678901234567890.25"},
	} {
		var a, b decimal
		if !a.parse([]byte(c.a)) || !b.parse([]byte(c.b)) {
			t.Fatalf("%s or %s is not read", c.a, c.b)
		}
		a.add(&b)
		if got := string(a.append(nil)); got != c.want {
			t.Errorf("%s + %s = %s, want %s", c.a, c.b, got, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1e5", "1.2.3", "--1", "+1", strings.Repeat("9", 201)} {
		if new(decimal).parse([]byte(text)) {
			t.Errorf("%q was read as a number", text)
		}
	}
}

// TestAppendDouble has some texts of those that TestUnionDoubles compares with servers.
func TestAppendDouble(t *testing.T) {
	for _, c := range []struct {
		x        float64
		decimals byte
		want     string
	}{
		{0, 31, "0"}, {1.5, 31, "1.5"}, {123456789012345, 31, "123456789012345"}, {1e14, 31, "100000000000000"}, {1e15, 31, "1e15"},
		{1234567890123456, 31, "1.234567890123456e15"}, {1e-5, 31, "0.00001"}, {1e-15, 31, "0.000000000000001"}, {1e-16, 31, "1e-16"},
		{-1e300, 31, "-1e300"}, {math.Nextafter(0.3, 1), 31, "0.30000000000000004"}, {12.5, 2, "12.50"},
	} {
		if got := string(appendDouble(nil, c.x, c.decimals)); got != c.want {
			t.Errorf("%v with %d decimals is %s, want %s", c.x, c.decimals, got, c.want)
		}
	}
}

func TestAppendDecimalSorts(t *testing.T) {
	sorted := []string{"-100", "-10.5", "-10.05", "-10", "-9.99", "-1.55", "-1.5", "-0.1", "-0.01", "0", "0.001", "0.01", "0.5", "1", "1.5", "1.55", "2", "10", "0099", "100"}
	var keys [][]byte
	for _, text := range sorted {
		key, ok := appendDecimal(nil, []byte(text))
		if !ok {
			t.Fatalf("%s is not read", text)
		}
		keys = append(keys, key)
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Errorf("%s do not sort: %x", sorted, keys)
	}
	zero, _ := appendDecimal(nil, []byte("-0.00"))
	other, _ := appendDecimal(nil, []byte("0"))
	if !bytes.Equal(zero, other) {
		t.Errorf("-0.00 and 0 differ: %x, %x", zero, other)
	}
}
