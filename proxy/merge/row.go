package merge

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// row is a row as its packet has it, and its fields once they are needed.
type row struct {
	packet []byte // nil: fields were changed
	fields []field
	ready  bool // fields are the packet's
}

func (r *row) set(packet []byte) { r.packet, r.ready = packet, false }

// field is a value of a row.
type field struct {
	raw  []byte // as it stands in the row, with the prefix for its length
	text []byte // without it
	null bool
}

// format is how rows stand in packets.
type format struct {
	binary  bool
	columns []column
}

// nullText stands for NULL in the text protocol.
const nullText = 0xfb

// split finds the fields of a row.
func (f *format) split(w *row) error {
	if w.ready {
		return nil
	}
	if cap(w.fields) < len(f.columns) {
		w.fields = make([]field, len(f.columns))
	}
	w.fields = w.fields[:len(f.columns)]
	ok := false
	if f.binary {
		ok = f.splitBinary(w)
	} else {
		ok = splitText(w)
	}
	if !ok {
		return errMalformed
	}
	w.ready = true
	return nil
}

func splitText(w *row) bool {
	p := w.packet
	for i := range w.fields {
		text, null, rest, ok := wire.Text(p)
		switch {
		case !ok:
			return false
		case null:
			w.fields[i] = field{null: true}
		default:
			w.fields[i] = field{raw: p[:len(p)-len(rest)], text: text}
		}
		p = rest
	}
	return len(p) == 0
}

// bitmapBits is how many bits are left free at the begin of the bitmap of NULLs in a
// binary row (MySQL's Protocol::BinaryResultsetRow).
const bitmapBits = 2

func bitmapLen(columns int) int { return (columns + bitmapBits + 7) / 8 }

func (f *format) splitBinary(w *row) bool {
	head := 1 + bitmapLen(len(f.columns))
	if len(w.packet) < head || w.packet[0] != 0 {
		return false
	}
	bitmap, p := w.packet[1:head], w.packet[head:]
	for i := range w.fields {
		bit := i + bitmapBits
		if bitmap[bit/8]&(1<<(bit%8)) != 0 {
			w.fields[i] = field{null: true}
			continue
		}
		n, prefix, ok := f.columns[i].width(p)
		if !ok {
			return false
		}
		w.fields[i] = field{raw: p[:n], text: p[prefix:n]}
		p = p[n:]
	}
	return len(p) == 0
}

// width returns the length of the binary value that p begins with, and of the part of it
// that only says how long it is.
func (c column) width(p []byte) (n, prefix int, ok bool) {
	switch c.typ {
	case mysql.MYSQL_TYPE_NULL:
	case mysql.MYSQL_TYPE_TINY:
		n = 1
	case mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_YEAR:
		n = 2
	case mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_FLOAT:
		n = 4
	case mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_DOUBLE:
		n = 8
	default:
		text, null, rest, ok := wire.Text(p)
		n := len(p) - len(rest)
		return n, n - len(text), ok && !null
	}
	return n, 0, n <= len(p)
}

// appendRow appends a row of these fields.
func (f *format) appendRow(dst []byte, fields []field) []byte {
	if !f.binary {
		for i := range fields {
			if fields[i].null {
				dst = append(dst, nullText)
			} else {
				dst = append(dst, fields[i].raw...)
			}
		}
		return dst
	}
	begin := len(dst) + 1
	dst = append(dst, make([]byte, 1+bitmapLen(len(fields)))...)
	for i := range fields {
		if bit := i + bitmapBits; fields[i].null {
			dst[begin+bit/8] |= 1 << (bit % 8)
		} else {
			dst = append(dst, fields[i].raw...)
		}
	}
	return dst
}

// appendText appends a text as a value of either protocol.
func appendText(dst, text []byte) []byte {
	return append(mysql.AppendLengthEncodedInteger(dst, uint64(len(text))), text...)
}

// textField makes a field of a text, and count one of a number.
func textField(text []byte) field {
	raw := appendText(nil, text)
	return field{raw: raw, text: raw[len(raw)-len(text):]}
}

func wideField(n uint64) field {
	raw := binary.LittleEndian.AppendUint64(nil, n)
	return field{raw: raw, text: raw}
}
