package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Columns that a generator of the vschema fills. One that takes segments of a counter (redis, leaf, tinyid) is a
// sequence in all but name.

// takeNumbers takes ids of a snowflake: ones that follow each other where the layout has so many, which clients rely
// on that know the first one only.
func (f *idTaker) takeNumbers(p *fillPlan) (err error) {
	if p.span() <= p.binding.Numbers.Longest {
		p.first, err = f.next(p.binding, p.span())
		return err
	}
	p.ids = make([]int64, p.open)
	if err := p.binding.Numbers.Fill(f.ctx, p.ids); err != nil {
		return err
	}
	p.first = p.ids[0]
	return nil
}

// takeTexts makes ids that are no numbers.
func (f *idTaker) takeTexts(p *fillPlan) (err error) {
	b := p.binding
	p.texts, err = f.srv.cfg.Generators.AppendTexts(nil, p.open, b.Generator.Type, b.Form)
	return err
}

// text gives the n-th of the ids that are no numbers.
func (p *fillPlan) text(n int) []byte {
	size := p.binding.Form.Size(p.binding.Generator.Type)
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
	case p.binding.Form == generate.Binary:
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
	if p.binding.Form == generate.Binary {
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
