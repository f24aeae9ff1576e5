package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Text returns the n-th of the ids that are no numbers.
func (p *Fill) Text(n int) []byte {
	size := p.Binding.Form.Size(p.Binding.Generator.Type)
	return p.Texts[n*size : (n+1)*size]
}

// AppendOpen appends the n-th id that was taken as the statement gets it.
func (p *Fill) AppendOpen(dst []byte, n int) []byte {
	if p.Texts != nil {
		return p.AppendValue(dst, n)
	}
	return appendID(dst, p.ID(n), p.Wrap && n == 0)
}

// AppendValue appends the n-th id as a literal.
func (p *Fill) AppendValue(dst []byte, n int) []byte {
	switch {
	case p.Texts == nil:
		return strconv.AppendInt(dst, p.ID(n), 10)
	case p.Binding.Form == generate.Binary:
		return fmt.Appendf(dst, "0x%x", p.Text(n))
	}
	return append(append(append(dst, '\''), p.Text(n)...), '\'')
}

// OpenParam returns the n-th id as a parameter.
func (p *Fill) OpenParam(n int) wire.Param {
	if p.Texts == nil {
		return wire.IDParam(p.ID(n))
	}
	return wire.Param{Type: p.textType(), Value: mysql.PutLengthEncodedString(p.Text(n))}
}

// textType returns the type of a parameter for an id that is no number.
func (p *Fill) textType() uint16 {
	if p.Binding.Form == generate.Binary {
		return uint16(mysql.MYSQL_TYPE_BLOB)
	}
	return uint16(mysql.MYSQL_TYPE_VAR_STRING)
}

// TakeFrom adds the n-th id of a whole statement to those of a part.
func (p *Fill) TakeFrom(whole *Fill, n int) {
	if whole.Texts != nil {
		p.Texts = append(p.Texts, whole.Text(n)...)
		return
	}
	p.IDs = append(p.IDs, whole.ID(n))
}

// IsOneOfIDs returns the condition that a column's value is one of the ids that were taken. Between ids that do not follow
// each other may be those of others.
func (p *Fill) IsOneOfIDs() string {
	if p.IDs == nil && (p.Stride() == 1 || p.Open > MaxOwnVariables) {
		return fmt.Sprintf(" BETWEEN %d AND %d", p.First, p.ID(int(p.Open)-1))
	}
	list := make([]string, p.Open)
	for i := range list {
		list[i] = strconv.FormatInt(p.ID(i), 10)
	}
	return " IN (" + strings.Join(list, ", ") + ")"
}

func appendID(dst []byte, id int64, wrap bool) []byte {
	if !wrap {
		return strconv.AppendInt(dst, id, 10)
	}
	dst = append(dst, "LAST_INSERT_ID("...)
	return append(strconv.AppendInt(dst, id, 10), ')')
}

// MaxOwnVariables bounds the variables that seqgate makes in a session.
const MaxOwnVariables = 1000

// FirstOf is the least id of those that are in the table, fromBlock where from.
func (p *Fill) FirstOf() string { return "MIN(" + catalog.Quote(p.Binding.Column) + ")" }

// BulkType returns the type in which ids are sent in the place of a parameter of type
// typ, and whether values of that type fit into it. Where the ids are no numbers, bytes
// and texts are not one for the other: a server converts texts between character sets.
func (p *Fill) BulkType(typ uint16) (as uint16, fits bool) {
	if p.Binding.Form == 0 {
		return IDType(typ)
	}
	as = p.textType()
	switch byte(typ) {
	case mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_VARCHAR:
		fits = p.Binding.Form != generate.Binary
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		fits = p.Binding.Form == generate.Binary
	}
	if fits {
		as = typ
	}
	return as, fits
}

// BulkAdvice says what ids that rows bring along are to be.
func (p *Fill) BulkAdvice() string {
	switch p.Binding.Form {
	case 0:
		return "an integer"
	case generate.Binary:
		return "bytes"
	}
	return "a string"
}

// IDType returns the type in which ids are sent in the place of a parameter of type
// typ, and whether values of that type fit into it.
func IDType(typ uint16) (as uint16, fits bool) {
	switch byte(typ) {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONGLONG:
		return uint16(mysql.MYSQL_TYPE_LONGLONG) | typ&wire.UnsignedParam, true
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE, mysql.MYSQL_TYPE_NULL,
		mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		return uint16(mysql.MYSQL_TYPE_LONGLONG), false
	}
	return typ, true // a text
}
