package parser

import (
	"math"
	"testing"
)

func TestStringSlot(t *testing.T) {
	strict := Mode{Strict: true}
	value := func(n int64) Slot { return Slot{State: Explicit, HasValue: true, Value: n} }
	open, refused, unknown := Slot{State: Open}, Slot{State: Explicit}, Slot{State: Unknown}
	tests := []struct {
		text   string
		mode   Mode
		ignore bool
		want   Slot
	}{
		{"0", strict, false, open},
		{" -0.4 ", strict, false, open},
		{"0", Mode{NoAutoValueOnZero: true}, false, value(0)},
		{"5e-1", strict, false, value(1)},
		{"-1.5", strict, false, value(-2)},
		{"abc", strict, false, refused},
		{"abc", strict, true, open},
		{"abc", Mode{}, false, open},
		{"12abc", strict, false, refused},
		{"12abc", Mode{}, false, value(12)},
		{"", strict, false, refused},
		{"", Mode{Strict: true, EmptyStringIsNull: true}, false, open},
		{"9223372036854775808", strict, false, refused},
		{"99999999999999999999999999", strict, false, refused},
		{"1e101", strict, false, unknown},
		{"0e", strict, false, unknown},
		{"0\x00", strict, false, unknown},
		{"\n0", strict, false, unknown},
	}
	for _, test := range tests {
		if got := StringSlot([]byte(test.text), test.mode, test.ignore); got != test.want {
			t.Errorf("StringSlot(%q, %+v, %v) = %+v, want %+v", test.text, test.mode, test.ignore, got, test.want)
		}
	}
}

func TestFloatSlot(t *testing.T) {
	tests := []struct {
		f    float64
		mode Mode
		want Slot
	}{
		{0, Mode{}, Slot{State: Open}},
		{0.5, Mode{}, Slot{State: Open}},
		{-0.5, Mode{}, Slot{State: Open}},
		{0, Mode{NoAutoValueOnZero: true}, Slot{State: Explicit, HasValue: true}},
		{1.5, Mode{}, Slot{State: Explicit, HasValue: true, Value: 2}},
		{-1 << 63, Mode{}, Slot{State: Explicit, HasValue: true, Value: math.MinInt64}},
		{1 << 63, Mode{}, Slot{State: Explicit}},
		{math.Inf(-1), Mode{}, Slot{State: Explicit}},
		{math.NaN(), Mode{}, Slot{State: Explicit}},
	}
	for _, test := range tests {
		if got := FloatSlot(test.f, test.mode); got != test.want {
			t.Errorf("FloatSlot(%v, %+v) = %+v, want %+v", test.f, test.mode, got, test.want)
		}
	}
}
