package proxy

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// comStmtBulkExecute is MariaDB's command to execute a prepared statement once for
// each of many rows of parameters ("COM_STMT_BULK_EXECUTE" in its documentation).
const comStmtBulkExecute = 0xfa

const (
	bulkHeader    = 7   // the command, the statement's id, flags
	bulkSendTypes = 128 // the flag that says that types stand before the rows
)

// bulk is the parameters of a COM_STMT_BULK_EXECUTE: rows of the same types.
type bulk struct {
	types []wire.Param
	rows  []byte
}

// readBulk reads what stands before the rows. Types of an earlier execution hold
// for a packet that brings none. Its errors, and that of each, are MariaDB's own.
func (st *statement) readBulk(payload []byte) (*bulk, error) {
	if len(payload) < bulkHeader {
		return nil, malformedPacket()
	}
	flags := binary.LittleEndian.Uint16(payload[5:])
	if flags&^bulkSendTypes != 0 || st.params == 0 {
		return nil, mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS)
	}
	r := wire.ParamReader{Data: payload, At: bulkHeader}
	if flags&bulkSendTypes != 0 {
		types := make([]wire.Param, st.params)
		for i := range types {
			types[i].Type = r.ParamType()
		}
		if r.Bad {
			return nil, malformedPacket()
		}
		st.types = types
	}
	if len(st.types) < st.params || len(st.long) > 0 {
		return nil, malformedBulk()
	}
	return &bulk{types: st.types[:st.params], rows: payload[r.At:]}, nil
}

func malformedPacket() error {
	return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet")
}

func malformedBulk() error {
	return mysql.NewDefaultError(mysql.ER_WRONG_ARGUMENTS, "mysqld_stmt_bulk_execute")
}

// each calls f with the parameters of each row, which are valid until it returns.
func (b *bulk) each(f func(row []wire.Param) error) error {
	r := wire.ParamReader{Data: b.rows}
	row := make([]wire.Param, len(b.types))
	for r.At < len(r.Data) {
		for i := range row {
			row[i] = r.Indicated(b.types[i].Type)
		}
		if r.Bad {
			return malformedBulk()
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return nil
}

// appendIndicated appends values of a bulk as they came.
func appendIndicated(dst []byte, params ...wire.Param) []byte {
	for i := range params {
		dst = append(append(dst, params[i].Mark), params[i].Value...)
	}
	return dst
}

// executeBulk executes an INSERT or REPLACE into a sequenced table for the rows of
// a bulk. Open ids get one block, in the order of the rows.
func (x *executor) executeBulk(st *statement, payload []byte, size int) error {
	p := st.execution()
	b, err := st.readBulk(payload)
	if err == nil {
		err = x.openBulk(st, &p, b)
	}
	if err != nil {
		x.front.Skip(size)
		return errors.Join(err, x.dropLong(st))
	}
	if err = x.beforeExecute(st, &p); err == nil {
		err = x.composeBulk(st, &p, b)
	}
	x.front.Skip(size)
	if err != nil {
		return err
	}
	if err := x.SendPacket(x.scratch); err != nil {
		return err
	}
	return x.answerExecute(st, &p)
}

// openBulk counts the rows of a bulk, and those whose ids are open.
func (f *filler) openBulk(st *statement, p *plan.Fill, b *bulk) error {
	if p.Bound != nil {
		return catalog.Unsupported("COM_STMT_BULK_EXECUTE with a user variable as the id", p.Binding.Table, "execute row by row (useBulkStmts=false)")
	}
	p.Rows = 0
	err := b.each(func(row []wire.Param) error {
		p.Rows += len(st.slots)
		return f.openRows(st, p, row)
	})
	switch {
	case err != nil:
		return err
	case p.Rows == 0:
		return malformedBulk()
	case p.Open > 0 && p.Binding.Key.Name != "":
		return catalog.Unsupported("COM_STMT_BULK_EXECUTE with a keyed sequence", p.Binding.Table, "execute row by row (useBulkStmts=false)")
	case p.Returning && p.Open > 0:
		return catalog.Unsupported("COM_STMT_BULK_EXECUTE of a statement with RETURNING", p.Binding.Table, "execute row by row (useBulkStmts=false)")
	case !p.Rewrites():
		return nil
	}
	return f.checkIDTypes(st, p, b)
}

// checkIDTypes refuses a bulk in which an id's type, which all rows have in common,
// cannot hold both the ids that rows bring along and generated ones.
func (f *filler) checkIDTypes(st *statement, p *plan.Fill, b *bulk) error {
	return b.each(func(row []wire.Param) error {
		for _, slot := range st.slots {
			if slot.State != parser.Param || f.decide(p, slot, row).State == parser.Open {
				continue
			}
			if _, fits := p.BulkType(row[slot.Param].Type); !fits {
				return catalog.Unsupported("rows with and without a value of this type for '"+p.Binding.Column+"' in one COM_STMT_BULK_EXECUTE", p.Binding.Table,
					"bind the id as "+p.BulkAdvice())
			}
		}
		return nil
	})
}

// composeBulk builds in s.scratch the command of the statement that fits, types
// included: the client's own, or the one with a parameter for each id.
func (f *filler) composeBulk(st *statement, p *plan.Fill, b *bulk) error {
	if !p.Rewrites() {
		f.scratch = append(appendBulkHead(f.packetBuffer(), st.id, b.types), b.rows...)
		return nil
	}
	if p.MovesAhead() {
		p.Own = func(first, last int64, yield func(int64)) {
			_ = b.each(func(row []wire.Param) error { // it was read before
				f.ownOfParams(st, p.Binding, p.Ignore, row)(first, last, yield)
				return nil
			})
		}
	}
	if err := f.takeIDs(p, nil, nil); err != nil {
		return err
	}
	f.scratch = appendBulkHead(f.packetBuffer(), st.filled, st.filledTypes(p, b.types))
	n := 0
	return b.each(func(row []wire.Param) error {
		f.scratch, n = f.appendFilledRow(f.scratch, st, p, row, n)
		return nil
	})
}

// appendFilledRow appends a row of parameters of the filled statement. n counts the
// ids that were written.
func (f *filler) appendFilledRow(dst []byte, st *statement, p *plan.Fill, row []wire.Param, n int) ([]byte, int) {
	taken := 0
	for _, slot := range st.slots {
		dst = appendIndicated(dst, row[taken:slot.Param]...)
		taken = slot.Param
		if slot.State == parser.Explicit {
			continue // it stands in the text
		}
		own := wire.Param{Type: uint16(mysql.MYSQL_TYPE_NULL)}
		if slot.State == parser.Param {
			own = row[taken]
			taken++
		}
		if f.decide(p, slot, row).State == parser.Open {
			if p.Texts != nil {
				own = p.OpenParam(n)
			} else {
				own = generatedAs(own, p.ID(n))
			}
			n++
		}
		dst = appendIndicated(dst, own.Widened())
	}
	return appendIndicated(dst, row[taken:]...), n
}

func appendBulkHead(dst []byte, id uint32, types []wire.Param) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, comStmtBulkExecute), id)
	dst = binary.LittleEndian.AppendUint16(dst, bulkSendTypes)
	for _, t := range types {
		dst = binary.LittleEndian.AppendUint16(dst, t.Type)
	}
	return dst
}

// filledTypes returns the types of the filled statement's parameters.
func (st *statement) filledTypes(p *plan.Fill, types []wire.Param) []wire.Param {
	var all []wire.Param
	taken := 0
	for _, slot := range st.slots {
		all = append(all, types[taken:slot.Param]...)
		taken = slot.Param
		switch slot.State {
		case parser.Open:
			typ, _ := p.BulkType(uint16(mysql.MYSQL_TYPE_NULL))
			all = append(all, wire.Param{Type: typ})
		case parser.Param:
			typ, _ := p.BulkType(types[taken].Type)
			all = append(all, wire.Param{Type: typ})
			taken++
		}
	}
	return append(all, types[taken:]...)
}

// generatedAs returns a generated id in the type in which ids stand in p's place.
func generatedAs(p wire.Param, id int64) wire.Param {
	typ, _ := plan.IDType(p.Type)
	if byte(typ) == mysql.MYSQL_TYPE_LONGLONG {
		return wire.Param{Type: typ, Value: binary.LittleEndian.AppendUint64(nil, uint64(id))}
	}
	text := strconv.AppendInt([]byte{0}, id, 10)
	text[0] = byte(len(text) - 1)
	return wire.Param{Type: typ, Value: text}
}
