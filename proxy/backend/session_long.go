package backend

import "github.com/seqgate/seqgate/proxy/wire"

// PacketWriter sends a payload of a known size to the backend, in packets, as its
// parts are written.
type PacketWriter struct {
	Conn     *Session
	Left     int // bytes of the payload that are in no packet yet
	room     int // bytes that the packet under way still has to get
	full     bool
	sequence byte
	err      error
}

// begin begins the next packet.
func (w *PacketWriter) begin() {
	n := min(w.Left, wire.MaxPayload)
	w.Left, w.room, w.full = w.Left-n, n, n == wire.MaxPayload
	w.err = w.Conn.WriteBack([]byte{byte(n), byte(n >> 8), byte(n >> 16), w.sequence})
	w.sequence++
}

func (w *PacketWriter) Write(part []byte) {
	for len(part) > 0 && w.err == nil {
		if w.room == 0 {
			w.begin()
		}
		n := min(len(part), w.room)
		if w.err == nil {
			w.err = w.Conn.WriteBack(part[:n])
		}
		w.room -= n
		part = part[n:]
	}
}

// End sends the packet without payload that follows one of the largest size.
func (w *PacketWriter) End() error {
	if w.full && w.err == nil {
		w.begin()
	}
	return w.err
}
