package parser

import (
	"encoding/hex"
	"math/big"
	"strconv"
)

// LiteralValue is what a literal stands for: the number N of a LiteralInteger, the text of any other.
type LiteralValue struct {
	Kind LiteralKind
	N    uint64
	Text []byte // of a number as written, of a string with its escapes resolved, of bits their bytes
}

// Value returns what the literal of the text sql stands for. It reports false for one that reads as several servers like:
// a string with an introducer or outside UTF-8 that has other characters than ASCII, a number of more than 64 bits, ”
// where it is NULL. Text may refer to sql.
func (l Literal) Value(sql []byte, m Mode) (v LiteralValue, ok bool) {
	v.Kind = l.Kind
	switch l.Kind {
	case LiteralInteger:
		v.N, ok = parseDigits(sql[l.Start:l.End])
	case LiteralDecimal:
		v.Text, ok = sql[l.Start:l.End], true
	case LiteralBits:
		v.Text, ok = l.bits(sql)
	case LiteralString:
		v.Text, ok = l.text(sql, m)
	}
	return v, ok && !l.joined
}

func parseDigits(text []byte) (n uint64, ok bool) {
	if len(text) > 40 {
		return 0, false
	}
	for _, c := range text {
		d := uint64(c - '0')
		if n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// text returns the string's characters.
func (l Literal) text(sql []byte, m Mode) (text []byte, ok bool) {
	s := newScanner(sql, m)
	s.start, s.end = l.quote, l.End
	inner := sql[l.quote+1 : l.End-1]
	text = inner
	if !isVerbatim(inner, sql[l.quote], m) {
		text = s.appendString(nil)
	}
	ascii := isASCII(text)
	utf8 := m.Charset.isUTF8() && l.quote == l.Start
	return text, (ascii || utf8) && (len(text) > 0 || !m.EmptyStringIsNull)
}

// isVerbatim reports whether the quoted text stands for itself.
func isVerbatim(inner []byte, quote byte, m Mode) bool {
	for _, c := range inner {
		if c == quote || c == '\\' && !m.NoBackslashEscapes || c >= 0x80 && m.Charset.layout().multiByte() {
			return false
		}
	}
	return true
}

func (c Charset) isUTF8() bool {
	switch c.String() {
	case "utf8mb4", "utf8mb3", "utf8":
		return true
	}
	return false
}

// bits returns the bytes of a hexadecimal or bit literal, as MySQL has them: without leading zero bytes only when none
// were written.
func (l Literal) bits(sql []byte) ([]byte, bool) {
	text := sql[l.Start:l.End]
	digits := text[2:]
	if l.quote != l.Start {
		digits = digits[:len(digits)-1]
	}
	if lower(text[0]) == 'b' || text[1] == 'b' {
		n, ok := new(big.Int).SetString("0"+string(digits), 2)
		if !ok {
			return nil, false
		}
		return n.FillBytes(make([]byte, (len(digits)+7)/8)), true
	}
	if len(digits)%2 > 0 {
		if l.quote != l.Start {
			return nil, false
		}
		digits = append([]byte{'0'}, digits...)
	}
	out, err := hex.AppendDecode(nil, digits)
	return out, err == nil
}

// String returns the value as a plan shows it.
func (v LiteralValue) String() string {
	switch v.Kind {
	case LiteralInteger:
		return strconv.FormatUint(v.N, 10)
	case LiteralDecimal:
		return string(v.Text)
	case LiteralBits:
		return "x'" + hex.EncodeToString(v.Text) + "'"
	}
	return strconv.Quote(string(v.Text))
}
