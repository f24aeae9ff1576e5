package proxy

import (
	"bytes"
	"slices"

	"github.com/seqgate/seqgate/proxy/plan"
)

// compose builds in s.scratch the command of a statement that does not go to the
// server as it came. attributes is what stands before the text. A long statement
// gets but its ids.
func (f *insertWriter) compose(p *textPlan, attributes, sql []byte) (err error) {
	switch {
	case p.kind == plan.Filled && isLong(sql) && p.fill.Open > 0:
		p.attributes, p.long = attributes, sql
		err = f.takeOpen(&p.fill)
	case p.kind == plan.Filled:
		f.scratch = append(f.packetBuffer(), attributes...)
		f.scratch, err = f.fillText(f.scratch, sql, &p.fill)
		if n := len(f.scratch); err == nil && len(sql) <= maxKeptText { // behind the command, until another one is built
			f.scratch = append(f.scratch, sql...)
			f.scratch, p.quoted = f.scratch[:n], f.scratch[n:]
		}
	case p.kind == plan.Command:
		p.attributes = slices.Clone(attributes)
	case p.kind == plan.Query:
		// attributes begin with the command's own byte
		p.query = &insertQuery{sql: bytes.Clone(sql), attributes: bytes.Clone(attributes[1:]), fill: p.fill}
	}
	return err
}

// sendComposed sends what compose made.
func (f *insertWriter) sendComposed(p *textPlan) error {
	if p.long != nil {
		return f.sendFilled(&p.fill, p.attributes, p.long)
	}
	return f.SendPacket(f.scratch)
}

// fillText takes ids for the statement in s.planner.Stmt and appends its text, filled,
// to dst.
func (f *insertWriter) fillText(dst, sql []byte, p *plan.Fill) ([]byte, error) {
	if err := f.takeOpen(p); err != nil {
		return dst, err
	}
	f.idsAt = f.idsAt[:0]
	p.Sent = plan.SentText
	return f.planner.Stmt.AppendFilled(dst, sql, p.Binding.Column, f.fillValues(sql, p), p.Options()), nil
}

// fillValues returns the ids that were taken, row by row.
func (f *insertWriter) fillValues(sql []byte, p *plan.Fill) func(dst []byte, row int) ([]byte, bool) {
	n := 0
	return func(dst []byte, row int) ([]byte, bool) {
		if !f.planner.IsOpen(row) {
			return f.appendCopied(dst, sql, p, row)
		}
		if p.Sent == plan.SentText {
			f.idsAt = append(f.idsAt, len(dst))
		}
		dst = p.AppendOpen(dst, n)
		n++
		return dst, true
	}
}
