package proxy

import (
	"bytes"
	"errors"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// queryParts handles a text of several statements. Where one of them may need
// seqgate they are sent one by one, and their results told as one answer.
func (x *textRunner) queryParts(payload []byte, begin, size int) error {
	x.noteKind(meter.Several)
	split, err := x.mustSplit(payload[begin:])
	if err == nil {
		err = x.refuseDuality(payload[begin:])
	}
	if err != nil {
		x.front.Skip(size)
		return err
	}
	if !split {
		return x.passCommand(payload, size, wire.ShapeResults, effectOfParts(payload[begin:]))
	}
	text := parser.TrimEnd(payload)
	if size > 0 {
		text = bytes.Clone(text)
	}
	x.front.Skip(size)
	x.out.parts = true
	defer func() { x.out.part, x.out.rest = nil, nil }() // an idle session holds no text
	for rest := text[begin:]; len(rest) > 0; {
		if rest, err = x.runParts(text[:begin], rest); err != nil {
			x.out.more = false
			return err
		}
	}
	return nil
}

// runParts runs the statements of a text one by one, up to the first that fails
// or that changes how the text after it reads; what is left is returned.
func (x *textRunner) runParts(attributes, text []byte) (rest []byte, err error) {
	spans, err := x.split(text)
	if len(spans) == 0 {
		return nil, err
	}
	last := len(spans) - 1
	switch {
	case errors.Is(err, parser.ErrModeChange):
		rest = text[spans[last].Start:spans[last].End]
		spans = spans[:last]
	case err != nil:
		return nil, x.runBeforeCompound(attributes, text, spans)
	}
	return x.runAll(attributes, text, spans, rest)
}

// runBeforeCompound runs the statements before one that cannot be taken apart,
// and then sends that with all after it as it came: a compound body is the
// server's own.
func (x *textRunner) runBeforeCompound(attributes, text []byte, spans []parser.Span) error {
	compound := text[spans[len(spans)-1].Start:]
	if _, err := x.runAll(attributes, text, spans[:len(spans)-1], compound); err != nil || x.Answer.Failed {
		return err
	}
	if err := x.refuseBeside(compound); err != nil {
		return err
	}
	x.out.more, x.out.part, x.out.rest = false, nil, nil
	unseen := plan.UnknownEffect(compound) | plan.ChangesSchema | plan.MakesTemporary
	if err := x.before(unseen); err != nil {
		return err
	}
	if err := x.Send(append(slices.Clone(attributes), compound...)); err != nil {
		return err
	}
	err := x.relayPart()
	x.after(unseen)
	return err
}

// runAll runs statements one by one, up to the first that fails. More are to
// follow when rest is not empty; it is returned unless a statement failed.
func (x *textRunner) runAll(attributes, text []byte, spans []parser.Span, rest []byte) ([]byte, error) {
	for i, span := range spans {
		x.out.more = i < len(spans)-1 || len(rest) > 0
		x.out.part, x.out.rest = text[span.Start:span.End], text[span.End:]
		if err := x.queryPart(attributes, x.out.part); err != nil {
			return nil, err
		}
		if x.Answer.Failed {
			return nil, nil
		}
		x.Intervened = false
	}
	return rest, nil
}

// queryPart handles one statement of several. attributes stands before each
// text.
func (x *textRunner) queryPart(attributes, sql []byte) error {
	x.Answer.Failed = false
	if parser.MayCall(sql) {
		p, err := x.planCallsText(sql)
		if err != nil {
			return err
		}
		if p != nil {
			return x.runCalls(p, attributes, sql)
		}
	}
	return x.queryPlain(attributes, sql)
}

// split splits a text. The session is asked how it reads only if that matters.
func (c *serverConn) split(sql []byte) (spans []parser.Span, err error) {
	if !c.State.EnvironmentKnown {
		readings := parser.Readings(sql, c.MariaDB)
		for i, m := range readings {
			other, otherErr := parser.Split(nil, sql, m)
			if i > 0 && (!slices.Equal(other, spans) || !sameReason(otherErr, err)) {
				readings = nil
				break
			}
			spans, err = other, otherErr
		}
		if len(readings) > 0 {
			return spans, err
		}
	}
	if err := c.Know(); err != nil {
		return nil, err
	}
	return parser.Split(nil, sql, c.State.Mode)
}

// sameReason reports whether two errors of parser.Split are of one kind.
func sameReason(a, b error) bool {
	return (a == nil) == (b == nil) && errors.Is(a, parser.ErrModeChange) == errors.Is(b, parser.ErrModeChange)
}

// mustSplit reports whether a statement of a text may need seqgate, so that the
// text cannot go to the server as it is.
func (f *insertPlanner) mustSplit(sql []byte) (bool, error) {
	calls := parser.MayCall(sql)
	if !calls && (!plan.MayNeedSeqgate(sql) && !f.executesNamed(sql) || !plan.ChangesWhatFollows(sql) && f.writesElsewhere(sql)) {
		return false, nil
	}
	spans, err := f.split(sql)
	if errors.Is(err, parser.ErrModeChange) || err != nil && len(spans) > 1 {
		return true, nil
	}
	if errors.Is(err, parser.ErrCompound) && parser.Sniff(sql) == parser.DDL {
		return false, f.refuseBehindRoutines(sql)
	}
	if err != nil && !errors.Is(err, parser.ErrCompound) && plan.ChangesWhatFollows(sql) {
		return false, plan.ErrNotRead
	}
	if err != nil {
		return false, f.refuseBeside(sql)
	}
	for _, span := range spans {
		part := sql[span.Start:span.End]
		if calls && parser.MayCall(part) {
			return true, nil
		}
		switch parser.Sniff(part) {
		case parser.Next, parser.Load, parser.DynamicSQL, parser.Prepare, parser.Kill:
			return true, nil
		case parser.Use, parser.Set, parser.DDL, parser.Call, parser.Execute, parser.Deallocate:
			return true, nil // what follows can be judged only after it ran
		case parser.Show, parser.Select:
			if parser.SniffCommand(part) != parser.NoCommand {
				return true, nil
			}
		case parser.Insert, parser.Replace:
			if f.temporary != nil {
				return true, nil // a function that a statement before it calls may drop what hides its table
			}
			if p, err := f.planInsert(textPlan{}, part, false); err != nil || p.kind != plan.Pass {
				return true, nil // its own turn tells
			}
		}
	}
	return false, nil
}

// effectOfParts is that of a text of several statements.
func effectOfParts(sql []byte) plan.Effect {
	e := plan.UnknownEffect(sql)
	if plan.ChangesWhatFollows(sql) || parser.ContainsWord(sql, "truncate") {
		e |= plan.ChangesSchema | plan.MakesTemporary
	}
	return e
}
