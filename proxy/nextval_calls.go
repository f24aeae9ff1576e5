package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/sequence"
)

// callPlan is a statement with calls of sequences, as NEXTVAL(s), that seqgate
// answers, by putting values in their places.
type callPlan struct {
	stmt  parser.CallStmt
	names []sequence.Name // of each call; the zero Name for LASTVAL()
	known []bool          // of each call: others are the server's
}

// planCalls finds the calls of a text that seqgate answers; nil when there are
// none. A call where a value would not be what it gives is refused.
func (x *textRunner) planCalls(sql []byte) (*callPlan, error) {
	mode, err := x.Readable(sql)
	if err != nil {
		return nil, err
	}
	if parser.Sniff(sql) == parser.Next {
		var syntax *parser.SyntaxError
		if _, err := parser.ParseNext(sql, mode); !errors.As(err, &syntax) {
			return nil, nil // it is planNext's
		}
	}
	p := &callPlan{stmt: parser.FindCalls(sql, mode)}
	p.names, p.known = make([]sequence.Name, len(p.stmt.Calls)), make([]bool, len(p.stmt.Calls))
	ours := false
	for i := range p.stmt.Calls {
		if p.names[i], p.known[i], err = x.resolveCall(&p.stmt.Calls[i]); err != nil {
			return nil, err
		}
		// LASTVAL() may be a function of the client's own.
		named := p.stmt.Calls[i].Sequence.Name != ""
		ours = ours || p.known[i] && (named || len(x.values.of) > 0)
	}
	if !ours {
		return nil, nil
	}
	return p, nil
}

// resolveCall finds the sequence of a call. It is not known when the call is the
// server's: of a sequence of its own, of a function or column, or of nothing.
func (x *textRunner) resolveCall(c *parser.ValueCall) (name sequence.Name, known bool, err error) {
	if c.Sequence.Name == "" {
		return name, true, nil
	}
	schema := c.Sequence.Schema
	if schema == "" && !x.learnDatabase() {
		if err := x.Know(); err != nil {
			return name, false, err
		}
	}
	if schema == "" {
		schema = x.State.Database
	}
	name, known, err = x.srv.catalog.KnownSequence(x.ctx, x.keyspace, schema, c.Sequence.Name)
	switch {
	case err != nil || !known:
		return name, false, err
	case c.Fault == "" || c.Kind == parser.LastValue && !c.Dotted:
		return name, true, nil
	case c.Dotted:
		return name, false, nil // a column of a table or an alias, or the server's error
	}
	return name, false, refuseCall(c.Fault, name)
}

// refuseCall refuses a call in a place where one value would stand for several.
func refuseCall(fault string, name sequence.Name) error {
	instead := fmt.Sprintf("take the values first (SELECT NEXT n VALUES FROM %s), and write them as literals", name.Table)
	if strings.HasPrefix(fault, "SETVAL") {
		instead = "run SELECT SETVAL alone with literals, or seqgate seq set"
	}
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf("seqgate does not yet support %s (sequence '%s'); %s", fault, name, instead))
}

// queryCalls deals with a text of one statement that may have calls. It reports
// false when it has none that are seqgate's.
func (x *textRunner) queryCalls(payload []byte, begin, size int) (done bool, err error) {
	p, err := x.planCallsText(payload[begin:])
	if err == nil && p == nil {
		return false, nil
	}
	payload = bytes.Clone(payload)
	x.front.Skip(size)
	if err != nil {
		return true, err
	}
	return true, x.runCalls(p, payload[:begin], payload[begin:])
}

// runCalls answers a statement with calls, or has the server run it with values in
// their places.
func (x *textRunner) runCalls(p *callPlan, attributes, sql []byte) error {
	if p.stmt.Alone {
		next := p.alone()
		if next.params() > 0 {
			return &parser.SyntaxError{Near: "?", Line: 1}
		}
		return x.answerNext(next, false)
	}
	values, err := x.callValues(p)
	if err != nil {
		return err
	}
	edited := p.stmt.AppendReplaced(nil, sql, func(dst []byte, i int, typed bool) ([]byte, bool) {
		if !p.known[i] {
			return dst, false // the server's
		}
		return values[i].append(dst, typed), true
	})
	x.out.part = edited
	return x.queryPlain(attributes, edited)
}

// alone gives the plan of a SELECT of one call alone, which needs no server.
func (p *callPlan) alone() nextPlan {
	c := &p.stmt.Calls[0]
	n := nextPlan{name: p.names[0], count: 1, call: c.Kind, label: p.stmt.Label, value: c.Value, next: c.Next}
	if p.stmt.HasCount {
		n.rows, n.count, n.param = true, p.stmt.Count, p.stmt.CountParam
	}
	return n
}

// number is a BIGINT or NULL.
type number struct {
	n    int64
	null bool
}

// What stands round a value that has the type BIGINT. Without the | MariaDB makes an
// INT of a short literal.
const bigintOpen, bigintClose = "CAST(", "|0 AS SIGNED)"

// append appends the number as SQL, as typed asks for with the type BIGINT.
func (v number) append(dst []byte, typed bool) []byte {
	if typed {
		dst = append(dst, bigintOpen...)
	}
	if v.null {
		dst = append(dst, "NULL"...)
	} else {
		dst = strconv.AppendInt(dst, v.n, 10)
	}
	if typed {
		dst = append(dst, bigintClose...)
	}
	return dst
}

// planPrepareCalls judges a statement to prepare that may have calls. st is nil when
// it has none that are seqgate's.
func (x *textRunner) planPrepareCalls(sql []byte) (st *statement, filled []byte, err error) {
	p, err := x.planCalls(sql)
	if p == nil || err != nil {
		return nil, nil, err
	}
	if p.stmt.Alone {
		next := p.alone()
		return &statement{next: &next}, nil, nil
	}
	text := p.stmt.AppendReplaced(nil, sql, func(dst []byte, i int, typed bool) ([]byte, bool) {
		switch {
		case !p.known[i]:
			return dst, false // the server's
		case typed:
			return append(dst, bigintOpen+"?"+bigintClose...), true
		}
		return append(dst, '?'), true
	})
	if st, filled, err = x.planPrepared(text); err != nil {
		return st, filled, err
	}
	if err := refuseCallsIn(st); err != nil {
		return nil, nil, err
	}
	st.calls = &preparedCalls{plan: p, text: text}
	return st, filled, nil
}
