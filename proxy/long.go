package proxy

import (
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A payload of 16 MiB and more comes and goes in several packets. It is held once:
// what is made of it is sent in pieces.

// packetWriter sends a payload of a known size to the backend, in packets, as its
// parts are written.
type packetWriter struct {
	conn     *serverSocket
	left     int // bytes of the payload that are in no packet yet
	room     int // bytes that the packet under way still has to get
	full     bool
	sequence byte
	err      error
}

func (w *packetWriter) write(part []byte) {
	for len(part) > 0 && w.err == nil {
		if w.room == 0 {
			w.begin()
		}
		n := min(len(part), w.room)
		if w.err == nil {
			w.err = w.conn.writeBack(part[:n])
		}
		w.room -= n
		part = part[n:]
	}
}

// begin begins the next packet.
func (w *packetWriter) begin() {
	n := min(w.left, wire.MaxPayload)
	w.left, w.room, w.full = w.left-n, n, n == wire.MaxPayload
	w.err = w.conn.writeBack([]byte{byte(n), byte(n >> 8), byte(n >> 16), w.sequence})
	w.sequence++
}

// end sends the packet without payload that follows one of the largest size.
func (w *packetWriter) end() error {
	if w.full && w.err == nil {
		w.begin()
	}
	return w.err
}

// isLong reports whether a statement is of the size that is filled as it is sent.
func isLong(sql []byte) bool { return len(sql) >= wire.MaxPayload }

// sendFilled sends a long statement, for which ids were taken, as it is filled:
// once to count its bytes, which stand before them, and once more.
func (f *insertWriter) sendFilled(p *plan.Fill, attributes, sql []byte) error {
	w := packetWriter{conn: &f.serverSocket, left: len(attributes)}
	f.eachPart(p, sql, func(part []byte) { w.left += len(part) })
	w.write(attributes)
	f.eachPart(p, sql, w.write)
	return w.end()
}

// eachPart gives the filled text in parts, which are valid until f returns.
func (s *insertWriter) eachPart(p *plan.Fill, sql []byte, f func(part []byte)) {
	o := s.fillOptions(p)
	o.Flush = func(dst []byte) []byte {
		f(dst)
		return dst[:0]
	}
	f(s.insert.AppendFilled(nil, sql, p.Binding.Column, s.fillValues(sql, p), o))
}
