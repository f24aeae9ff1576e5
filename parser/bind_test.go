package parser

import (
	"errors"
	"strconv"
	"testing"
)

func TestAppendBound(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"SELECT ?, ? FROM t WHERE a=?", "SELECT 1, 2 FROM t WHERE a=3"},
		{"SELECT a FROM t LIMIT?,?", "SELECT a FROM t LIMIT 1,2"},
		{"SELECT '?', \"?\", `?`, ? /* ? */ -- ?\n, ?", "SELECT '?', \"?\", `?`, 1 /* ? */ -- ?\n, 2"},
		{"SELECT a-?", "SELECT a- 1"},
		{"SELECT ? 'alias'", "SELECT (1) 'alias'"},
		{"SELECT ?+?", "SELECT 1 + 2"},
		{"SELECT 1", "SELECT 1"},
		{"SELECT 'it''s \\'?', ?", "SELECT 'it''s \\'?', 1"},
	}
	for _, test := range tests {
		at, err := Placeholders(nil, []byte(test.sql), Mode{})
		if err != nil {
			t.Errorf("%s: %v", test.sql, err)
			continue
		}
		got, err := AppendBound(nil, []byte(test.sql), at, func(dst []byte, n int) ([]byte, error) {
			return strconv.AppendInt(dst, int64(n+1), 10), nil
		})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s (%v), want %s", test.sql, got, err, test.want)
		}
	}
}

func TestPlaceholdersNotTold(t *testing.T) {
	for _, sql := range []string{"SELECT /*!50000 ? */ 1", "SELECT 'a"} {
		if _, err := Placeholders(nil, []byte(sql), Mode{}); !errors.Is(err, ErrPlaceholders) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestAppendText(t *testing.T) {
	gbk := Mode{Charset: CharsetByName("gbk")}
	tests := []struct {
		mode              Mode
		text, want, bytes string
	}{
		{Mode{}, `it's \ "x"`, `'it''s \\ "x"'`, `_binary'it''s \\ "x"'`},
		{Mode{NoBackslashEscapes: true}, `it's \`, `'it''s \'`, `_binary'it''s \'`},
		{Mode{}, "\xff\x00'", "'\xff\x00'''", "_binary'\xff\x00'''"},
		{gbk, "\xbf'", "_gbk 0xbf27", "_binary 0xbf27"},
		{gbk, "a'", "'a'''", "_binary'a'''"},
		{gbk, "", "''", "_binary''"},
	}
	for _, test := range tests {
		got, ok := AppendText(nil, []byte(test.text), test.mode)
		if !ok || string(got) != test.want {
			t.Errorf("%q: got %q (%t), want %q", test.text, got, ok, test.want)
		}
		if got := AppendBytes(nil, []byte(test.text), test.mode); string(got) != test.bytes {
			t.Errorf("bytes %q: got %q, want %q", test.text, got, test.bytes)
		}
	}
	if _, ok := AppendText(nil, []byte("\xff"), Mode{Charset: CharsetByName("klingon")}); ok {
		t.Error("a text of an unknown character set was written")
	}
}
