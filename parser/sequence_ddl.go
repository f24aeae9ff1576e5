package parser

import (
	"math"
	"strconv"
)

// A Setting is the value of an option. None is NO MINVALUE, NOMAXVALUE, NOCACHE
// and the like; it is Given too.
type Setting struct {
	Given, None bool
	Value       int64
}

// SequenceOptions are those of CREATE and ALTER SEQUENCE, in any order, the last
// one of a kind counting, as MariaDB reads them:
//
//	START [WITH|=] n · INCREMENT [BY|=] n · MINVALUE [=] n · NO MINVALUE · NOMINVALUE · MAXVALUE [=] n · NO MAXVALUE ·
//	NOMAXVALUE · CACHE [=] n · NOCACHE · CYCLE · NOCYCLE · ENGINE [=] InnoDB · RESTART [[WITH|=] n]
//
// RESTART is ALTER's alone, and ENGINE CREATE's.
type SequenceOptions struct {
	Start, Increment, Min, Max, Cache Setting
	Restart                           Setting // None: without a number
	Cycle                             bool
}

// option reads one option, which begins with the current token.
func (p *commandParser) option(o *SequenceOptions) bool {
	switch {
	case p.word("start"):
		return p.number(&o.Start, "with")
	case p.word("increment"):
		return p.number(&o.Increment, "by")
	case p.word("minvalue"):
		return p.number(&o.Min, "")
	case p.word("maxvalue"):
		return p.number(&o.Max, "")
	case p.word("cache"):
		return p.number(&o.Cache, "")
	case p.word("cycle"):
		o.Cycle = true
	case p.word("no"):
		return p.none(o, "")
	case p.stmt.Verb == CreateSequence && p.word("engine"):
		p.equals()
		return p.word("innodb")
	case p.stmt.Verb == AlterSequence && p.word("restart"):
		o.Restart = Setting{Given: true, None: true}
		if p.is(p.t, "with") || p.t == '=' || p.t == '-' || p.atNumber() {
			return p.number(&o.Restart, "with")
		}
	default:
		return p.none(o, "no")
	}
	return true
}

// none reads MINVALUE, MAXVALUE, CACHE or CYCLE behind NO, which is a part of the
// word when prefix says so.
func (p *commandParser) none(o *SequenceOptions, prefix string) bool {
	none := Setting{Given: true, None: true}
	switch {
	case p.word(prefix + "minvalue"):
		o.Min = none
	case p.word(prefix + "maxvalue"):
		o.Max = none
	case p.word(prefix + "cache"):
		o.Cache = none
	case p.word(prefix + "cycle"):
		o.Cycle = false
	default:
		return false
	}
	return true
}

// equals passes an equals sign, if there is one.
func (p *commandParser) equals() {
	if p.t == '=' {
		p.advance()
	}
}

// atNumber reports whether the current token begins with a digit.
func (p *commandParser) atNumber() bool { return p.t == tokenWord && isDigit(p.sql[p.start]) }

// number reads [word|=] n. A number past the 64 bits of a BIGINT is no number, but
// that past its end is the end: Oracle's MAXVALUE has 28 digits.
func (p *commandParser) number(to *Setting, word string) bool {
	if word == "" || !p.word(word) {
		p.equals()
	}
	sign := ""
	if p.t == '-' {
		sign = "-"
		p.advance()
	}
	if !p.atNumber() {
		return false
	}
	for _, c := range p.text() {
		if !isDigit(c) {
			return false
		}
	}
	n, err := strconv.ParseInt(sign+string(p.text()), 10, 64)
	if err != nil && to != &p.stmt.Options.Max {
		return false
	}
	if err != nil {
		n = math.MaxInt64
		if sign != "" {
			n = math.MinInt64
		}
	}
	*to = Setting{Given: true, Value: n}
	p.advance()
	return true
}

// AppendTable appends a table's name, quoted and qualified if it is, to dst, in
// the character set of the mode it was read in.
func (m Mode) AppendTable(dst []byte, t Table) []byte {
	if t.Schema != "" {
		dst = append(appendQuoted(dst, t.Schema, m.Charset), '.')
	}
	return appendQuoted(dst, t.Name, m.Charset)
}
