package parser

import "testing"

func TestNewMode(t *testing.T) {
	tests := []struct {
		sqlMode, charset string
		mariaDB          bool
		want             Mode
	}{
		{"", "utf8mb4", false, Mode{}},
		{"ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_DATE", "utf8mb4", false, Mode{Strict: true}},
		{"ansi_quotes, no_backslash_escapes", "utf8mb4", true, Mode{ANSIQuotes: true, NoBackslashEscapes: true, MariaDB: true}},
		{"ANSI", "utf8mb4", false, Mode{ANSIQuotes: true}},
		{"TRADITIONAL,NO_AUTO_VALUE_ON_ZERO", "utf8mb4", false, Mode{Strict: true, NoAutoValueOnZero: true}},
		{"EMPTY_STRING_IS_NULL,ORACLE", "utf8mb4", true, Mode{ANSIQuotes: true, EmptyStringIsNull: true, MariaDB: true}},
		{"", "GBK", false, Mode{Charset: CharsetByName("gbk")}},
	}
	for _, test := range tests {
		if got := NewMode(test.sqlMode, test.charset, test.mariaDB); got != test.want {
			t.Errorf("NewMode(%q, %q, %v) = %+v, want %+v", test.sqlMode, test.charset, test.mariaDB, got, test.want)
		}
	}
}

func TestCharsetByName(t *testing.T) {
	for i := range charsets {
		name := charsets[i].name
		if got := CharsetByName(name).String(); got != name {
			t.Errorf("CharsetByName(%q) is %q", name, got)
		}
	}
	if got := CharsetByName("utf32"); got.layout() != layoutUnknown {
		t.Errorf("CharsetByName(utf32) has the layout %d, want that of an unknown one", got.layout())
	}
}
