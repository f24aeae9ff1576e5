package proxy

import (
	"bytes"
	"strconv"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// planCalls finds the calls of a text that seqgate answers; nil when there are none.
func (x *textRunner) planCalls(sql []byte) (c *plan.Calls, err error) {
	err = x.planned(func() (err error) {
		c, err = x.planner.Calls(sql, len(x.values.of) > 0)
		return err
	})
	return c, err
}

// queryCalls handles a text of one statement that may have calls. It reports
// false when it has none that are seqgate's.
func (x *textRunner) queryCalls(payload []byte, begin, size int) (done bool, err error) {
	p, err := x.planCallsText(payload[begin:])
	if err == nil && p == nil {
		return false, nil
	}
	if err == nil && !p.Whole { // whose text is not needed any more
		payload = bytes.Clone(payload)
	}
	x.front.Skip(size)
	if err != nil {
		return true, err
	}
	return true, x.runCalls(p, payload[:begin], payload[begin:])
}

// runCalls answers a statement with calls, or has the server run it with values in
// their places.
func (x *textRunner) runCalls(p *plan.Calls, attributes, sql []byte) error {
	if p.Whole {
		x.left, x.failedBy, x.lostUnseen = nil, nil, false // of the statement before
		if p.Next.Params() > 0 {
			return &parser.SyntaxError{Near: "?", Line: 1}
		}
		return x.answerNext(p.Next, false)
	}
	values, err := x.callValues(p)
	if err != nil {
		return err
	}
	edited := p.Stmt.AppendReplaced(nil, sql, func(dst []byte, i int, typed bool) ([]byte, bool) {
		if !p.Known[i] {
			return dst, false // the server's
		}
		return values[i].append(dst, typed), true
	})
	x.out.part = edited
	return x.queryPlain(attributes, edited)
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

// planPrepareCalls plans a statement to prepare that may have calls. st is nil when
// it has none that are seqgate's.
func (x *textRunner) planPrepareCalls(sql []byte) (st *statement, filled []byte, err error) {
	p, err := x.planCalls(sql)
	if p == nil || err != nil {
		return nil, nil, err
	}
	if p.Whole {
		next := p.Next
		return &statement{next: &next}, nil, nil
	}
	text := p.Stmt.AppendReplaced(nil, sql, func(dst []byte, i int, typed bool) ([]byte, bool) {
		switch {
		case !p.Known[i]:
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
