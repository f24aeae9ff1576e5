package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	HeaderSize = 4         // 3 bytes of length, 1 of sequence number
	MaxPayload = 1<<24 - 1 // a packet of this length is continued by the next one

	SmallBuffer = 16 << 10 // holds nearly every statement and answer
	LargeBuffer = 64 << 10 // for results that fill small ones
)

var (
	smallBuffers = sync.Pool{New: func() any { b := make([]byte, SmallBuffer); return &b }}
	largeBuffers = sync.Pool{New: func() any { b := make([]byte, LargeBuffer); return &b }}
)

// Conn is one side of a session: a socket, and the bytes that were read from
// it and not yet dealt with. It holds a buffer only while there are such bytes,
// so that an idle session holds none.
type Conn struct {
	net.Conn
	raw syscall.RawConn // nil when bytes do not come straight from a socket (TLS)

	pooled *[]byte // nil: no buffer is held
	Buf    []byte  // *pooled, or a larger one of its own
	r, w   int     // buf[r:w] is unread
	wanted int     // unread bytes that are waited for
	Bulk   bool    // what comes fills small buffers: a large one is taken next

	first   [64]byte // a TLS connection waits for its next bytes with this
	readRaw func(fd uintptr) bool
	n       int
	err     error

	BytesRead, BytesWritten, Queries *atomic.Int64 // count what passes: bytes, and to a server commands; nil for no count

	out      []byte // is to be written
	outErr   error
	writeRaw func(fd uintptr) bool

	deadlines
}

// NewConn returns a connection that nothing was read from yet.
func NewConn(c net.Conn) *Conn {
	w := &Conn{Conn: c}
	if sc, ok := c.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			w.raw, w.readRaw, w.writeRaw = raw, w.readSocket, w.writeSocket
		}
	}
	return w
}

// Unread returns the bytes that were read and not yet dealt with.
func (w *Conn) Unread() []byte { return w.Buf[w.r:w.w] }

// Skip marks n unread bytes as dealt with.
func (w *Conn) Skip(n int) {
	if w.r += n; w.r == w.w {
		w.Release()
	}
}

// Release gives an empty buffer back.
func (w *Conn) Release() {
	w.r, w.w, w.Buf = 0, 0, nil
	recycle(w.pooled)
	w.pooled = nil
}

// Fill reads what has come, waiting for at least one byte. It makes room by
// moving the unread bytes to the front, or by growing when the buffer is full.
func (w *Conn) Fill() error {
	if w.r > 0 {
		w.w = copy(w.Buf, w.Buf[w.r:w.w])
		w.r = 0
	}
	if w.w == len(w.Buf) && w.w > 0 {
		w.grow()
	}
	for {
		before := w.w
		err := w.receive()
		if w.BytesRead != nil && w.w > before {
			w.BytesRead.Add(int64(w.w - before))
		}
		if err == nil || w.inner || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := w.woken(); err != nil {
			return err
		}
	}
}

func (w *Conn) receive() error {
	if w.raw != nil {
		return w.fillRaw()
	}
	w.limitRead()
	if w.Buf == nil {
		n, err := w.Read(w.first[:])
		if n > 0 {
			w.take()
			w.w = copy(w.Buf, w.first[:n])
			return nil
		}
		return readError(err)
	}
	n, err := w.Read(w.Buf[w.w:])
	w.w += n
	if n > 0 {
		return nil
	}
	return readError(err)
}

func (w *Conn) fillRaw() error {
	if err := w.raw.Read(w.readRaw); err != nil {
		return err
	}
	if w.n > 0 {
		w.w += w.n
		return nil
	}
	if w.w == w.r {
		w.Release()
	}
	if w.err == nil {
		return io.EOF
	}
	return w.err
}

// readSocket tries one read, and gives the buffer back before it lets the
// runtime wait for the socket.
func (w *Conn) readSocket(fd uintptr) bool {
	if w.Buf == nil {
		w.take()
	}
	for {
		w.n, w.err = unix.Read(int(fd), w.Buf[w.w:])
		switch {
		case w.err == unix.EINTR:
			continue
		case w.err == unix.EAGAIN:
			if w.w == 0 {
				w.Release()
			}
			w.limitRead()
			return false
		}
		return true
	}
}

// Write writes all of b. A deadline is set only when the peer has to be waited
// for: setting one costs a third of what a write does.
func (w *Conn) Write(b []byte) (int, error) {
	if w.raw == nil {
		w.limitWrite()
		n, err := w.Conn.Write(b)
		w.Wrote(n)
		return n, w.halting(err)
	}
	w.out, w.outErr = b, nil
	err := w.raw.Write(w.writeRaw)
	if err == nil {
		err = w.outErr
	}
	n := len(b) - len(w.out)
	w.out = nil
	w.Wrote(n)
	return n, errors.Join(w.halting(err), w.writeEnded())
}

// Wrote counts written bytes.
func (w *Conn) Wrote(n int) {
	if w.BytesWritten != nil {
		w.BytesWritten.Add(int64(n))
	}
}

// writeSocket writes what the socket takes, and lets the runtime wait for it when
// it is full.
func (w *Conn) writeSocket(fd uintptr) bool {
	for len(w.out) > 0 {
		n, err := unix.Write(int(fd), w.out)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			w.limitWait()
			return false
		case err != nil:
			w.outErr = err
			return true
		}
		w.out = w.out[n:]
	}
	return true
}

func (w *Conn) take() {
	pool := &smallBuffers
	if w.Bulk {
		pool = &largeBuffers
	}
	w.pooled = pool.Get().(*[]byte)
	w.Buf = *w.pooled
}

// grow moves the unread bytes to a larger buffer. It doubles, up to what is wanted,
// so that what a peer claims costs nothing before it is sent.
func (w *Conn) grow() {
	old, pooled, unread := w.Buf, w.pooled, w.w-w.r
	if len(old) < LargeBuffer {
		w.pooled = largeBuffers.Get().(*[]byte)
		w.Buf = *w.pooled
	} else {
		w.pooled = nil
		size := 2 * len(old)
		if w.wanted > len(old) {
			size = min(size, w.wanted)
		}
		w.Buf = make([]byte, size)
	}
	copy(w.Buf, old[w.r:w.w])
	w.r, w.w = 0, unread
	recycle(pooled)
}

func recycle(pooled *[]byte) {
	switch {
	case pooled == nil:
	case len(*pooled) == LargeBuffer:
		largeBuffers.Put(pooled)
	default:
		smallBuffers.Put(pooled)
	}
}

// Need reads until n bytes are unread.
func (w *Conn) Need(n int) error {
	w.wanted = n
	for w.w-w.r < n {
		if err := w.Fill(); err != nil {
			if errors.Is(err, io.EOF) && w.w > w.r {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func readError(err error) error {
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// Header reads the next packet's header without taking it, and gives the
// length of its payload and its sequence number.
func (w *Conn) Header() (length int, sequence byte, err error) {
	if err := w.Need(HeaderSize); err != nil {
		return 0, 0, err
	}
	h := w.Buf[w.r:]
	return int(h[0]) | int(h[1])<<8 | int(h[2])<<16, h[3], nil
}

// Packet reads the next packet whole and gives its payload, which stays valid
// until the next call that reads. The caller skips size bytes when done. A
// payload that is continued over several packets is joined; the joined length
// is bounded by limit.
func (w *Conn) Packet(limit int) (payload []byte, size int, sequence byte, err error) {
	length, sequence, err := w.Header()
	if err != nil {
		return nil, 0, 0, err
	}
	if length > limit {
		return nil, 0, 0, ErrTooLarge
	}
	if err := w.Need(HeaderSize + length); err != nil {
		return nil, 0, 0, err
	}
	if length < MaxPayload {
		return w.Buf[w.r+HeaderSize : w.r+HeaderSize+length], HeaderSize + length, sequence, nil
	}
	return w.continued(limit)
}

// continued joins the packets of one payload, once all are there. The result
// stands at the end of what is skipped as one.
func (w *Conn) continued(limit int) (payload []byte, size int, sequence byte, err error) {
	for length := MaxPayload; length == MaxPayload; size += HeaderSize + length {
		if err := w.Need(size + HeaderSize); err != nil {
			return nil, 0, 0, err
		}
		h := w.Buf[w.r+size:]
		if size > 0 && h[3] != sequence+1 {
			return nil, 0, 0, &OrderError{Want: sequence + 1}
		}
		length, sequence = int(h[0])|int(h[1])<<8|int(h[2])<<16, h[3]
		if size+length > limit {
			return nil, 0, 0, ErrTooLarge
		}
		if err := w.Need(size + HeaderSize + length); err != nil {
			return nil, 0, 0, err
		}
	}
	payload = make([]byte, 0, size)
	for rest := w.Buf[w.r : w.r+size]; len(rest) > 0; {
		n := min(len(rest), HeaderSize+MaxPayload)
		payload = append(payload, rest[HeaderSize:n]...)
		rest = rest[n:]
	}
	return payload, size, sequence, nil
}

// AppendPacket appends payload to dst as one or more packets, the first with
// the given sequence number, and gives the next number.
func AppendPacket(dst []byte, sequence byte, payload []byte) ([]byte, byte) {
	for {
		n := min(len(payload), MaxPayload)
		dst = append(dst, byte(n), byte(n>>8), byte(n>>16), sequence)
		dst = append(dst, payload[:n]...)
		sequence++
		if n < MaxPayload {
			return dst, sequence
		}
		payload = payload[n:]
	}
}

// ErrTooLarge is a packet above the limit that Packet was called with.
var ErrTooLarge = errors.New("packet is larger than seqgate accepts")
