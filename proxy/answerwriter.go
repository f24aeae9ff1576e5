package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/wire"
)

// answerWriter writes the packets of an answer of seqgate's own making to the
// client, in large pieces. After an error nothing more is written.
type answerWriter struct {
	s    *relayer
	b    []byte
	next byte // the sequence number of the first packet in b
	err  error
}

func newAnswerWriter(s *relayer) *answerWriter {
	return &answerWriter{s: s, b: s.packet[:0], next: s.out.sequence}
}

// add adds a packet, and sends what there is once that is much.
func (w *answerWriter) add(payload []byte) {
	w.b, w.s.out.sequence = wire.AppendPacket(w.b, w.s.out.sequence, payload)
	if len(w.b) >= wire.SmallBuffer {
		w.flush()
	}
}

// flush sends what is left, and gives the first error of all.
func (w *answerWriter) flush() error {
	if len(w.b) > 0 && w.err == nil {
		w.err = w.s.writeFront(w.b)
	}
	w.b, w.next = w.b[:0], w.s.out.sequence
	w.s.packet = w.b // what it has grown to is used again
	return w.err
}

// define adds what stands before the rows of a result, with the packet that ends it
// where the client awaits one.
func (w *answerWriter) define(columns [][]byte, end []byte) {
	count := mysql.AppendLengthEncodedInteger(nil, uint64(len(columns)))
	if w.s.Capabilities&wire.CountsTell != 0 {
		count = append(count, wire.DefinitionsFollow)
	}
	w.add(count)
	for _, column := range columns {
		w.add(column)
	}
	if !w.s.DeprecateEOF() {
		w.add(end)
	}
}

// discard drops what was not sent, so that an error can follow what was.
func (w *answerWriter) discard() {
	w.b, w.s.out.sequence = w.b[:0], w.next
}

// replyPackets sends a result of definitions and rows that servers have made.
func (x *relayer) replyPackets(columns, rows [][]byte) error {
	out := newAnswerWriter(x)
	out.define(columns, x.endOfRows(nil, x.out.more))
	for _, row := range rows {
		out.add(row)
	}
	out.add(x.endOfRows(nil, x.out.more))
	return out.flush()
}

// replyRows sends a result in the text protocol. Each row has a value for each column.
func (x *relayer) replyRows(columns []wire.Column, rows [][]string) error {
	count := mysql.AppendLengthEncodedInteger(nil, uint64(len(columns)))
	if x.Capabilities&wire.CountsTell != 0 {
		count = append(count, wire.DefinitionsFollow)
	}
	b, seq := wire.AppendPacket(nil, x.out.sequence, count)
	for _, column := range columns {
		b, seq = wire.AppendPacket(b, seq, column.Append(nil, x.Capabilities&wire.ClientExtendedMetadata != 0))
	}
	if !x.DeprecateEOF() {
		b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, x.out.more))
	}
	for _, row := range rows {
		var packet []byte
		for _, value := range row {
			packet = wire.AppendText(packet, value)
		}
		b, seq = wire.AppendPacket(b, seq, packet)
	}
	b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, x.out.more))
	x.out.sequence = seq
	return x.writeFront(b)
}

// endOfRows appends what ends the definitions or the rows of a result.
func (x *relayer) endOfRows(dst []byte, more bool) []byte {
	status := x.Status()
	if more {
		status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	if x.owner.inTransactionWithout() {
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	if x.DeprecateEOF() {
		return append(dst, mysql.EOF_HEADER, 0, 0, byte(status), byte(status>>8), 0, 0)
	}
	return append(dst, mysql.EOF_HEADER, 0, 0, byte(status), byte(status>>8))
}

// appendColumn appends the definition of a BIGINT column.
func (x *relayer) appendColumn(dst []byte, name string, flags uint16) []byte {
	column := wire.IntegerColumn(name)
	column.Nullable = flags&mysql.NOT_NULL_FLAG == 0
	return column.Append(dst, x.Capabilities&wire.ClientExtendedMetadata != 0)
}
