package wire

import (
	"encoding/binary"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Param is one parameter of a COM_STMT_EXECUTE, or one query attribute.
type Param struct {
	Type  uint16 // type byte, and UnsignedParam
	Name  []byte // length-encoded, where query attributes are in use
	Null  bool
	Long  bool   // its value was sent ahead by COM_STMT_SEND_LONG_DATA
	Mark  byte   // in a bulk: why there is no value, see Indicated
	Value []byte // as it stands in the packet, length included
	Ahead []byte // that which was sent ahead, where seqgate keeps it
}

// ParamReader takes the parameters of a packet apart. Once something did not
// fit, bad is set and nothing more is read.
type ParamReader struct {
	Data []byte
	At   int
	Bad  bool

	Room  []Param // is used for the parameters, when there are as many
	Typed bool    // the packet had their types
}

func (r *ParamReader) take(n int) []byte {
	if r.Bad || n < 0 || n > len(r.Data)-r.At {
		r.Bad = true
		return nil
	}
	r.At += n
	return r.Data[r.At-n : r.At]
}

// Number reads a length-encoded number.
func (r *ParamReader) Number() uint64 {
	if r.Bad {
		return 0
	}
	n, null, size := LengthEncoded(r.Data[r.At:])
	r.Bad = size == 0 || null
	r.At += size
	return n
}

// lengthEncodedBytes reads a length-encoded string, its length included.
func (r *ParamReader) lengthEncodedBytes() []byte {
	begin := r.At
	n := r.Number()
	if n > math.MaxInt32 {
		r.Bad = true
	}
	r.take(int(n))
	if r.Bad {
		return nil
	}
	return r.Data[begin:r.At]
}

// maxParams bounds the parameters of a statement: the server's own limit is
// 65,535, and query attributes count on top.
const maxParams = 1<<17 - 1

// ReadParams reads null bitmap, types and values ("COM_STMT_EXECUTE" page of the
// MySQL manual). bound holds the types of an earlier execution, for a packet that
// brings none; long says whose values were sent ahead.
func (r *ParamReader) ReadParams(count uint64, named bool, bound []Param, long map[uint16]bool) []Param {
	if count > maxParams {
		r.Bad = true
		return nil
	}
	nulls := r.take(int(count+7) / 8)
	newTypes := r.take(1)
	if r.Bad {
		return nil
	}
	params := r.Room[:0]
	if uint64(cap(params)) < count {
		params = make([]Param, count)
	}
	params = params[:count]
	clear(params)
	switch {
	case newTypes[0] == 1:
		r.Typed = true
		for i := range params {
			params[i].Type = r.ParamType()
			if named {
				params[i].Name = append([]byte(nil), r.lengthEncodedBytes()...)
			}
		}
	case newTypes[0] != 0, len(bound) < len(params):
		r.Bad = true // MySQL takes any other number for 1, too
	default:
		for i := range params {
			params[i].Type, params[i].Name = bound[i].Type, bound[i].Name
		}
	}
	for i := range params {
		p := &params[i]
		p.Null = nulls[i/8]>>(i%8)&1 == 1
		p.Long = i <= math.MaxUint16 && long[uint16(i)]
		if !p.Null && !p.Long {
			p.Value = r.value(byte(p.Type))
		}
	}
	return params
}

// UnsignedParam is the flag in a parameter's type.
const UnsignedParam = 0x8000

// Integer returns the bits of a parameter of an integer type.
func (p *Param) Integer() (n int64, ok bool) {
	unsigned := p.Type&UnsignedParam != 0
	switch b := p.Value; byte(p.Type) {
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

// AppendExecute appends the payload of a COM_STMT_EXECUTE, types included.
// extra, with count set, are query attributes behind the parameters.
func AppendExecute(dst []byte, id uint32, flags byte, params []Param, attributes bool) []byte {
	dst = AppendExecuteHead(dst, id, flags, params, attributes)
	for i := range params {
		dst = append(dst, params[i].Bytes()...)
	}
	return dst
}

// Bytes returns the value as it is sent, nothing for NULL.
func (p *Param) Bytes() []byte {
	if p.Null {
		return nil
	}
	return p.Value
}

// AppendExecuteHead appends what stands before the values.
func AppendExecuteHead(dst []byte, id uint32, flags byte, params []Param, attributes bool) []byte {
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
		if params[i].Null {
			dst[nulls+i/8] |= 1 << (i % 8)
		}
		dst = binary.LittleEndian.AppendUint16(dst, params[i].Type)
		if attributes {
			if params[i].Name == nil {
				dst = append(dst, 0)
			}
			dst = append(dst, params[i].Name...)
		}
	}
	return dst
}

// IDParam is a generated id as a parameter.
func IDParam(id int64) Param {
	return Param{Type: uint16(mysql.MYSQL_TYPE_LONGLONG), Value: binary.LittleEndian.AppendUint64(nil, uint64(id))}
}

// Widened returns a value in that type.
func (p Param) Widened() Param {
	if p.Null {
		return p
	}
	if n, ok := p.Integer(); ok {
		p.Value = binary.LittleEndian.AppendUint64(nil, uint64(n))
	}
	return p
}

// IsText reports whether the parameter is sent as text or bytes.
func (p *Param) IsText() bool {
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING,
		mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		return true
	}
	return false
}

// IsBlob reports whether the parameter is sent as bytes without a character set.
func (p *Param) IsBlob() bool {
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		return true
	}
	return false
}
