package proxy

import (
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A payload of 16 MiB and more comes and goes in several packets. It is held once:
// what is made of it is sent in pieces.

// isLong reports whether a statement is of the size that is filled as it is sent.
func isLong(sql []byte) bool { return len(sql) >= wire.MaxPayload }

// sendFilled sends a long statement, for which ids were taken, as it is filled:
// once to count its bytes, which stand before them, and once more.
func (f *insertWriter) sendFilled(p *plan.Fill, attributes, sql []byte) error {
	w := backend.PacketWriter{Conn: &f.Session, Left: len(attributes)}
	f.eachPart(p, sql, func(part []byte) { w.Left += len(part) })
	w.Write(attributes)
	f.eachPart(p, sql, w.Write)
	return w.End()
}

// eachPart gives f the filled text in parts, which are valid until f returns.
func (s *insertWriter) eachPart(p *plan.Fill, sql []byte, f func(part []byte)) {
	o := p.Options()
	o.Flush = func(dst []byte) []byte {
		f(dst)
		return dst[:0]
	}
	f(s.planner.Stmt.AppendFilled(nil, sql, p.Binding.Column, s.fillValues(sql, p), o))
}
