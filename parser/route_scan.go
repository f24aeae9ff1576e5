package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// The TiDB parser builds a tree whose depth and size the text decides, and walks it recursively: these bound it. A long
// list of values is not deep, and a long literal is one leaf, whose length does not count.
const (
	maxRouteBytes     = 4 << 20
	longLiteral       = 4 << 10
	maxRouteNesting   = 300
	maxRouteOperators = 20000
)

// routeScan is the text as its tokens show it: where literals, placeholders and dotted names are.
type routeScan struct {
	literalScanner
	masked   []byte // the text as the TiDB parser reads it, of the same length
	literals []Literal
	places   []int // where placeholders are
	chains   []routeChain
	chain    routeChain  // the one that the current token may continue
	from     []routePart // names after FROM and IN

	nesting, operators int
	long               int // bytes of long literals
}

// routeChain is a name of several parts with dots between; a * at its end has an empty name.
type routeChain []routePart

type routePart struct {
	name       string // in lower case
	start, end int
}

func unreadable(reason string) error { return &UnreadableError{Reason: reason} }

// scanRoute reads the tokens of the text.
func scanRoute(sql []byte, m Mode) (*routeScan, error) {
	r := &routeScan{literalScanner: literalScanner{scanner: newScanner(sql, m)}, masked: bytes.Clone(sql)}
	end, ended, afterFrom := 0, false, false
	for t := r.next(tokenEOF); ; t = r.next(t) {
		blank(r.masked[end:r.start]) // a comment need not be valid UTF-8
		end = r.end
		switch {
		case t == tokenEOF:
			r.endChain()
			if len(sql)-r.long > maxRouteBytes {
				return nil, unreadable("it is longer than 4 MiB, its long strings left out")
			}
			return r, nil
		case ended && t != ';':
			return nil, unreadable("it is more than one statement")
		case t == ';':
			ended = true
			blank(r.masked[r.start:r.end])
		}
		if afterFrom && isName(t) {
			r.from = append(r.from, r.part(t))
		}
		afterFrom = r.is(t, "from") || r.is(t, "in")
		if err := r.take(t); err != nil {
			return nil, err
		}
	}
}

// take notes what the token t is for routing.
func (r *routeScan) take(t token) error {
	switch t {
	case tokenInvalid:
		return unreadable("it may be read in more than one way")
	case tokenVersion:
		return unreadable("it has a version comment /*! */")
	case tokenParam:
		r.places = append(r.places, r.start)
	case tokenLiteral:
		r.literals = r.appendLiteral(r.literals)
		r.maskLiteral()
	case tokenWord, tokenName:
		if !isASCII(r.text()) && r.layout != layoutSafe {
			return unreadable("it has names outside ASCII in a character set other than UTF-8")
		}
		r.operators++
	case '(':
		r.nesting++
	case ')':
		r.nesting--
	case ',':
	default:
		r.operators++
	}
	r.dotted(t)
	if r.nesting > maxRouteNesting || r.operators > maxRouteOperators {
		return unreadable("it is nested too deeply or too long")
	}
	return nil
}

// dotted adds the token t to the name of several parts that it may continue.
func (r *routeScan) dotted(t token) {
	switch {
	case t == '.' && len(r.chain) > 0 && isName(r.last):
	case t == '*' && r.last == '.' && len(r.chain) > 0:
		r.chain = append(r.chain, routePart{start: r.start, end: r.end})
		r.endChain()
	case isName(t) && r.last == '.' && len(r.chain) > 0:
		r.chain = append(r.chain, r.part(t))
	case isName(t) && r.last != '@':
		r.endChain()
		r.chain = routeChain{r.part(t)}
	default:
		r.endChain()
	}
}

func (r *routeScan) endChain() {
	if len(r.chain) > 1 {
		r.chains = append(r.chains, r.chain)
	}
	r.chain = nil
}

// part returns the name that is the current token t.
func (r *routeScan) part(t token) routePart {
	name, _ := r.appendName(nil, t, r.mode.Charset)
	return routePart{strings.ToLower(string(name)), r.start, r.end}
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}

// maskLiteral puts another literal in the place of the current one, where that is long or does not read the same in every
// character set and mode. Its value does not matter to the TiDB parser's tree. A long one becomes blanks for the most part,
// so that the TiDB parser does not copy it.
func (r *routeScan) maskLiteral() {
	text := r.masked[r.literal.quote:r.end]
	switch isString := r.literal.Kind == LiteralString; {
	case len(text) > longLiteral && (isString || r.literal.Kind == LiteralBits):
		short := "0x00"
		if isString {
			short = "'x'"
		}
		blank(text[copy(text, short):])
		r.long += len(text)
	case isString:
		maskString(text)
	}
}

// maskString makes the quoted text one that reads the same in every character set and mode.
func maskString(quoted []byte) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && isASCII(inner) {
		return
	}
	for i := range inner {
		inner[i] = 'x'
	}
}

// parse has the TiDB parser read the text.
func (r *routeScan) parse() (ast.StmtNode, error) {
	m := r.mode
	m.NoBackslashEscapes = false // no string of the masked text has a backslash
	stmt, err := parseTiDB(string(r.masked), m)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return nil, unreadable(strings.TrimSpace(text))
	}
	return stmt, nil
}

// param returns the number of the placeholder at that place of the text.
func (r *routeScan) param(at int) (int, bool) { return slices.BinarySearch(r.places, at) }

// literalAt returns the number of the literal at that place of the text.
func (r *routeScan) literalAt(at int) (int, bool) {
	return slices.BinarySearchFunc(r.literals, at, func(l Literal, at int) int { return l.Start - at })
}
