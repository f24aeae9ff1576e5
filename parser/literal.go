package parser

import (
	"math"
	"strconv"
)

// slot returns what the value v says of the bound column.
func (s *InsertStmt) slot(sql []byte, v value) Slot {
	text := sql[v.start:v.end]
	l := literals{mode: s.mode, strict: s.mode.Strict && !s.Ignore}
	var slot Slot
	switch {
	case v.tokens == 1 && v.first == tokenParam:
		slot.State = Param
	case v.tokens == 1 && v.first == tokenWord:
		slot = l.word(text)
	default:
		slot = s.expression(&l, sql, v)
	}
	slot.Param = v.params
	return slot
}

// expression returns the slot of a value that is more than one word.
func (s *InsertStmt) expression(l *literals, sql []byte, v value) Slot {
	text := sql[v.start:v.end]
	if slot, ok := l.number(text); ok {
		return slot
	}
	sc := newScanner(sql[:v.end], s.mode)
	sc.end = v.start
	if slot, ok := l.quoted(&sc); ok {
		return slot
	}
	sc.end = v.start
	if t := sc.next(); sc.is(t, "default") {
		return s.defaultOf(l, &sc)
	}
	if s.mode.MariaDB && string(text) == `\N` {
		return Slot{State: Open}
	}
	return l.constant(text)
}

// defaultOf returns the slot of DEFAULT(column), of which the scanner has read
// the first word.
func (s *InsertStmt) defaultOf(l *literals, sc *scanner) Slot {
	if sc.next() != '(' {
		return Slot{State: Unknown}
	}
	for {
		t := sc.next()
		if !isName(t) {
			return Slot{State: Unknown}
		}
		own := s.isColumn(sc, t)
		switch sc.next() {
		case '.':
			continue
		case ')':
			if own && sc.next() == tokenEOF {
				return l.standard()
			}
		}
		return Slot{State: Unknown}
	}
}

// literals reads values as MySQL stores them in an integer column. What is not
// the same in MySQL 9.7 and MariaDB 10.11 was measured there.
type literals struct {
	mode   Mode
	strict bool // text that is no number is refused
}

// integer returns the slot of a whole number.
func (l *literals) integer(n int64) Slot {
	if l.mode.OnlyNull {
		return Slot{State: Explicit}
	}
	if n == 0 && !l.mode.NoAutoValueOnZero {
		return Slot{State: Open}
	}
	return Slot{State: Explicit, HasValue: true, Value: n}
}

// standard returns the slot of DEFAULT, which is 0 in a column of numbers.
func (l *literals) standard() Slot {
	if l.mode.OnlyNull {
		return Slot{State: Open}
	}
	return l.integer(0)
}

// float returns the slot of a floating-point number, which rounds half to even.
func (l *literals) float(f float64) Slot {
	if l.mode.OnlyNull {
		return Slot{State: Explicit}
	}
	if l.mode.Approximate && f != 0 && math.Abs(f) < 1 {
		return Slot{State: Unknown}
	}
	f = math.RoundToEven(f)
	if f >= -(1<<63) && f < 1<<63 {
		return l.integer(int64(f))
	}
	return Slot{State: Explicit}
}

// word returns the slot of a single unquoted word.
func (l *literals) word(text []byte) Slot {
	switch {
	case isDigit(text[0]):
		if slot, ok := l.number(text); ok {
			return slot
		}
	case equalFold(text, "null"):
		return Slot{State: Open}
	case equalFold(text, "default"), l.mode.MariaDB && equalFold(text, "ignore"):
		return l.standard()
	case equalFold(text, "false"):
		return l.integer(0)
	case equalFold(text, "true"):
		return l.integer(1)
	}
	return Slot{State: Unknown}
}

// number returns the slot of a numeric literal with any signs before it.
func (l *literals) number(text []byte) (Slot, bool) {
	negative := false
	for len(text) > 0 && (text[0] == '-' || text[0] == '+' || text[0] == ' ') {
		negative = negative != (text[0] == '-')
		text = text[1:]
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b') {
		base := 16
		if text[1] == 'b' {
			base = 2
		}
		return l.bits(text[2:], base, negative)
	}
	d, rest, ok := scanDecimal(text)
	if !ok || len(rest) > 0 {
		return Slot{}, false
	}
	if d.hasExponent {
		f, _ := strconv.ParseFloat(string(text), 64) // out of range is infinite
		if negative {
			f = -f
		}
		return l.float(f), true
	}
	return l.decimal(d, negative), true
}

// bits returns the slot of a hexadecimal or binary literal. More than 64 bits
// are out of every integer column's range.
func (l *literals) bits(digits []byte, base int, negative bool) (Slot, bool) {
	perDigit := 4
	if base == 2 {
		perDigit = 1
	}
	if len(digits) > 64/perDigit {
		return Slot{State: Explicit}, true
	}
	if len(digits) == 0 {
		return l.integer(0), true
	}
	n, err := strconv.ParseUint(string(digits), base, 64)
	if err != nil || negative {
		return Slot{}, false
	}
	if n > math.MaxInt64 {
		return Slot{State: Explicit}, true
	}
	return l.integer(int64(n)), true
}

// decimal returns the slot of a decimal number, which rounds half away from 0.
func (l *literals) decimal(d decimal, negative bool) Slot {
	if l.mode.Approximate && d.isFraction() {
		return Slot{State: Unknown}
	}
	n, ok := d.round()
	if !ok || n > math.MaxInt64 {
		return Slot{State: Explicit}
	}
	if negative {
		return l.integer(-int64(n))
	}
	return l.integer(int64(n))
}
