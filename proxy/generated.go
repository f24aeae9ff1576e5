package proxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// Columns that a generator of the vschema fills. One that takes segments of a counter (redis, leaf, tinyid) is a
// sequence in all but name.

// generated is what a Binding says of a generator.
type generated struct {
	generator *vschema.Generator  // nil: the ids are a sequence table's
	numbers   *generate.Snowflake // of type snowflake
	form      generate.Form       // of ids that are no numbers; 0 for numbers
	required  bool                // the column is of the primary key, which has no NULL
	counts    bool                // a column of the table has AUTO_INCREMENT
}

// generate sets how a column is filled from a generator. The error says what the column has to be.
func (c *tableCache) generate(b *Binding, e *catalogEntry, g *vschema.Generator, column *catalog.Column) (err error) {
	b.OnExplicit = ExplicitIgnore
	b.generator, b.required = g, column.Key == "PRI"
	for i := range e.table.Columns {
		b.counts = b.counts || e.table.Columns[i].AutoIncrement()
	}
	switch {
	case g.IsText():
		b.form, err = generate.FormFor(g.Type, column.Type)
	case g.Type == vschema.Snowflake:
		if b.numbers, err = c.generated.Snowflake(g); err == nil {
			err = holdsLayout(column.Type, b.Max, b.numbers.Layout)
		}
	default:
		err = holdsPrefix(column.Type, b.Max, g.Segments)
	}
	return err
}

// CheckColumn returns why a column of this type, as information_schema has it, cannot be filled from a generator.
func CheckColumn(g *vschema.Generator, columnType string) error {
	column := catalog.Column{Type: columnType}
	switch {
	case g.IsText():
		_, err := generate.FormFor(g.Type, columnType)
		return err
	case g.Type == vschema.Snowflake:
		l, _, err := generate.Layout(g)
		if err != nil {
			return err
		}
		return holdsLayout(columnType, column.MaxID(), l)
	}
	return holdsPrefix(columnType, column.MaxID(), g.Segments)
}

// holdsPrefix is holdsLayout for ids that begin with the date. Where the ids begin low, a column is full when it is.
func holdsPrefix(columnType string, most int64, p *vschema.SegmentParams) error {
	if last := p.MaxID(); p.TimePrefix != "" && last > most {
		return fmt.Errorf("a %s holds ids up to %d, and those of the %s with %d digits go up to %d: make it a BIGINT, or take fewer digits",
			columnType, most, p.TimePrefix, p.Digits, last)
	}
	return nil
}

// holdsLayout returns the error for a column, with the largest id that it holds, in which a layout's ids would not fit.
func holdsLayout(columnType string, most int64, l snowflake.Layout) error {
	if last := generate.MaxID(l); last > most {
		return fmt.Errorf("a %s holds ids up to %d, and layout %s gives ids up to %d: make it a BIGINT, or take the layout js53 for a DOUBLE",
			columnType, most, l.Name, last)
	}
	return nil
}

// takeNumbers takes ids of a snowflake: ones that follow each other where the layout has so many, which clients rely
// on that know the first one only.
func (f *filler) takeNumbers(p *fillPlan) (err error) {
	if p.span() <= p.binding.numbers.Longest {
		p.first, err = f.next(p.binding, p.span())
		return err
	}
	p.ids = make([]int64, p.open)
	if err := p.binding.numbers.Fill(f.ctx, p.ids); err != nil {
		return err
	}
	p.first = p.ids[0]
	return nil
}

// takeTexts makes ids that are no numbers.
func (f *filler) takeTexts(p *fillPlan) (err error) {
	b := p.binding
	p.texts, err = f.srv.cfg.Generators.AppendTexts(nil, p.open, b.generator.Type, b.form)
	return err
}

// text gives the n-th of the ids that are no numbers.
func (p *fillPlan) text(n int) []byte {
	size := p.binding.form.Size(p.binding.generator.Type)
	return p.texts[n*size : (n+1)*size]
}

// appendOpen appends the n-th id that was taken as the statement gets it.
func (p *fillPlan) appendOpen(dst []byte, n int) []byte {
	if p.texts != nil {
		return p.appendValue(dst, n)
	}
	return appendID(dst, p.id(n), p.wrap && n == 0)
}

// appendValue appends the n-th id as a literal.
func (p *fillPlan) appendValue(dst []byte, n int) []byte {
	switch {
	case p.texts == nil:
		return strconv.AppendInt(dst, p.id(n), 10)
	case p.binding.form == generate.Binary:
		return fmt.Appendf(dst, "0x%x", p.text(n))
	}
	return append(append(append(dst, '\''), p.text(n)...), '\'')
}

// openParam gives the n-th id as a parameter.
func (p *fillPlan) openParam(n int) wire.Param {
	if p.texts == nil {
		return wire.IDParam(p.id(n))
	}
	return wire.Param{Type: p.textType(), Value: mysql.PutLengthEncodedString(p.text(n))}
}

// textType gives the type of a parameter for an id that is no number.
func (p *fillPlan) textType() uint16 {
	if p.binding.form == generate.Binary {
		return uint16(mysql.MYSQL_TYPE_BLOB)
	}
	return uint16(mysql.MYSQL_TYPE_VAR_STRING)
}

// takeFrom adds the n-th id of a whole statement to those of a part.
func (p *fillPlan) takeFrom(whole *fillPlan, n int) {
	if whole.texts != nil {
		p.texts = append(p.texts, whole.text(n)...)
		return
	}
	p.ids = append(p.ids, whole.id(n))
}

// isOneOfIDs gives the condition that a column's value is one of the ids that were taken. Between ids that do not follow
// each other may be those of others.
func (p *fillPlan) isOneOfIDs() string {
	if p.ids == nil && (p.stride() == 1 || p.open > maxOwnVariables) {
		return fmt.Sprintf(" BETWEEN %d AND %d", p.first, p.id(int(p.open)-1))
	}
	list := make([]string, p.open)
	for i := range list {
		list[i] = strconv.FormatInt(p.id(i), 10)
	}
	return " IN (" + strings.Join(list, ", ") + ")"
}

// settleTexts passes on the answer to a statement with ids that are no numbers. It tells no insert id, as that of a
// native column of such a type; that of another column is the server's own.
func (x *executor) settleTexts(p *fillPlan) error {
	if p.readsLastID || p.binding.counts {
		x.state.lastIDKnown = false
	}
	if p.returning && x.answersRows() {
		return x.relayComposed(wire.ShapeResults)
	}
	ok, err := x.answerOK()
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		x.forgetIfStale(refused)
	}
	if err != nil {
		return err
	}
	return x.replyOK(ok)
}
