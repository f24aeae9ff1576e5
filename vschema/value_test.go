package vschema

import (
	"math"
	"strings"
	"testing"
)

func TestValueUint64(t *testing.T) {
	tests := []struct {
		v    Value
		want uint64
		ok   bool
	}{
		{Null(), 0, false},
		{Int(7), 7, true},
		{Int(-1), 0, false},
		{Uint(math.MaxUint64), math.MaxUint64, true},
		{Text([]byte("18446744073709551615")), math.MaxUint64, true},
		{Text([]byte("18446744073709551616")), 0, false},
		{Text([]byte("99999999999999999999")), 0, false},
		{Text([]byte(" \t007 \t")), 7, true},
		{Text([]byte("7\n")), 0, false},
		{Text([]byte("+7")), 0, false},
		{Text([]byte("-0")), 0, false},
		{Text([]byte("1.0")), 0, false},
		{Text([]byte("1e3")), 0, false},
		{Text([]byte("0x7")), 0, false},
		{Text([]byte(" ")), 0, false},
		{Text(nil), 0, false},
		{Bits([]byte("7")), 0, false},
	}
	for _, tt := range tests {
		if got, ok := tt.v.uint64(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%v: %d, %v, want %d, %v", tt.v, got, ok, tt.want, tt.ok)
		}
	}
}

func TestValueString(t *testing.T) {
	tests := []struct {
		v    Value
		want string
	}{
		{Value{}, "NULL"},
		{Int(math.MinInt64), "-9223372036854775808"},
		{Uint(math.MaxUint64), "18446744073709551615"},
		{Text([]byte("it's")), `"it's"`},
		{Bits([]byte{0xff}), `"\xff"`},
		{Text([]byte(strings.Repeat("x", 65))), `"` + strings.Repeat("x", 64) + `"...`},
	}
	for _, tt := range tests {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("String() = %s, want %s", got, tt.want)
		}
	}
	if !Null().IsNull() || Text(nil).IsNull() {
		t.Error("IsNull is for NULL only")
	}
}
