package proxy

import (
	"encoding/binary"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// param is one parameter of a COM_STMT_EXECUTE, or one query attribute.
type param struct {
	typ   uint16 // type byte, and unsignedParam
	name  []byte // length-encoded, where query attributes are in use
	null  bool
	long  bool   // its value was sent ahead by COM_STMT_SEND_LONG_DATA
	mark  byte   // in a bulk: why there is no value, see indicated
	value []byte // as it stands in the packet, length included
	ahead []byte // that which was sent ahead, where seqgate keeps it
}

// paramReader takes the parameters of a packet apart. Once something did not
// fit, bad is set and nothing more is read.
type paramReader struct {
	b   []byte
	at  int
	bad bool

	room  []param // is used for the parameters, when there are as many
	typed bool    // the packet had their types
}

func (r *paramReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b)-r.at {
		r.bad = true
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// number reads a length-encoded number.
func (r *paramReader) number() uint64 {
	if r.bad {
		return 0
	}
	n, null, size := lengthEncoded(r.b[r.at:])
	r.bad = size == 0 || null
	r.at += size
	return n
}

// lengthEncodedBytes reads a length-encoded string, its length included.
func (r *paramReader) lengthEncodedBytes() []byte {
	begin := r.at
	n := r.number()
	if n > math.MaxInt32 {
		r.bad = true
	}
	r.take(int(n))
	if r.bad {
		return nil
	}
	return r.b[begin:r.at]
}

// maxParams bounds the parameters of a statement: the server's own limit is
// 65,535, and query attributes count on top.
const maxParams = 1<<17 - 1

// readParams reads null bitmap, types and values ("COM_STMT_EXECUTE" page of the
// MySQL manual). bound holds the types of an earlier execution, for a packet that
// brings none; long says whose values were sent ahead.
func (r *paramReader) readParams(count uint64, named bool, bound []param, long map[uint16]bool) []param {
	if count > maxParams {
		r.bad = true
		return nil
	}
	nulls := r.take(int(count+7) / 8)
	newTypes := r.take(1)
	if r.bad {
		return nil
	}
	params := r.room[:0]
	if uint64(cap(params)) < count {
		params = make([]param, count)
	}
	params = params[:count]
	clear(params)
	switch {
	case newTypes[0] == 1:
		r.typed = true
		for i := range params {
			params[i].typ = r.paramType()
			if named {
				params[i].name = append([]byte(nil), r.lengthEncodedBytes()...)
			}
		}
	case newTypes[0] != 0, len(bound) < len(params):
		r.bad = true // MySQL takes any other number for 1, too
	default:
		for i := range params {
			params[i].typ, params[i].name = bound[i].typ, bound[i].name
		}
	}
	for i := range params {
		p := &params[i]
		p.null = nulls[i/8]>>(i%8)&1 == 1
		p.long = i <= math.MaxUint16 && long[uint16(i)]
		if !p.null && !p.long {
			p.value = r.value(byte(p.typ))
		}
	}
	return params
}

// slot judges a parameter in the place of an id as MySQL judges a value for an
// AUTO_INCREMENT column. ignore says that the statement has IGNORE.
func (p *param) slot(m parser.Mode, ignore bool) parser.Slot {
	if p.null || byte(p.typ) == mysql.MYSQL_TYPE_NULL {
		return parser.Slot{State: parser.Open}
	}
	if m.OnlyNull {
		return parser.Slot{State: parser.Explicit}
	}
	if p.long {
		return parser.Slot{State: parser.Unknown}
	}
	switch byte(p.typ) {
	case mysql.MYSQL_TYPE_FLOAT:
		return parser.FloatSlot(float64(math.Float32frombits(binary.LittleEndian.Uint32(p.value))), m)
	case mysql.MYSQL_TYPE_DOUBLE:
		return parser.FloatSlot(math.Float64frombits(binary.LittleEndian.Uint64(p.value)), m)
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		return parser.Slot{State: parser.Unknown}
	}
	if n, ok := p.integer(); ok {
		return integerSlot(n, p.typ&unsignedParam != 0, m)
	}
	_, _, size := lengthEncoded(p.value)
	return parser.StringSlot(p.value[size:], m, ignore)
}

// unsignedParam is the flag in a parameter's type.
const unsignedParam = 0x8000

// integer gives the bits of a parameter of an integer type.
func (p *param) integer() (n int64, ok bool) {
	unsigned := p.typ&unsignedParam != 0
	switch b := p.value; byte(p.typ) {
	case mysql.MYSQL_TYPE_TINY:
		if n = int64(b[0]); !unsigned {
			n = int64(int8(b[0]))
		}
	case mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_YEAR:
		if n = int64(binary.LittleEndian.Uint16(b)); !unsigned {
			n = int64(int16(n))
		}
	case mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_INT24:
		if n = int64(binary.LittleEndian.Uint32(b)); !unsigned {
			n = int64(int32(n))
		}
	case mysql.MYSQL_TYPE_LONGLONG:
		n = int64(binary.LittleEndian.Uint64(b))
	default:
		return 0, false
	}
	return n, true
}

func integerSlot(n int64, unsigned bool, m parser.Mode) parser.Slot {
	if n == 0 && !m.NoAutoValueOnZero {
		return parser.Slot{State: parser.Open}
	}
	return parser.Slot{State: parser.Explicit, Value: n, HasValue: n >= 0 || !unsigned}
}

// appendExecute appends the payload of a COM_STMT_EXECUTE, types included.
// extra, with count set, are query attributes behind the parameters.
func appendExecute(dst []byte, id uint32, flags byte, params []param, attributes bool) []byte {
	dst = appendExecuteHead(dst, id, flags, params, attributes)
	for i := range params {
		dst = append(dst, params[i].bytes()...)
	}
	return dst
}

// bytes gives the value as it is sent, nothing for NULL.
func (p *param) bytes() []byte {
	if p.null {
		return nil
	}
	return p.value
}

// appendExecuteHead appends what stands before the values.
func appendExecuteHead(dst []byte, id uint32, flags byte, params []param, attributes bool) []byte {
	dst = append(dst, mysql.COM_STMT_EXECUTE)
	dst = binary.LittleEndian.AppendUint32(dst, id)
	dst = append(dst, flags, 1, 0, 0, 0)
	if attributes {
		dst = mysql.AppendLengthEncodedInteger(dst, uint64(len(params)))
	}
	nulls := len(dst)
	dst = append(dst, make([]byte, (len(params)+7)/8)...)
	dst = append(dst, 1)
	for i := range params {
		if params[i].null {
			dst[nulls+i/8] |= 1 << (i % 8)
		}
		dst = binary.LittleEndian.AppendUint16(dst, params[i].typ)
		if attributes {
			if params[i].name == nil {
				dst = append(dst, 0)
			}
			dst = append(dst, params[i].name...)
		}
	}
	return dst
}

// idParam is a generated id as a parameter.
func idParam(id int64) param {
	return param{typ: uint16(mysql.MYSQL_TYPE_LONGLONG), value: binary.LittleEndian.AppendUint64(nil, uint64(id))}
}
