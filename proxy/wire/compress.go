package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"
)

const (
	compressedHeaderSize = 7  // 3 bytes of length, 1 of sequence number, 3 of length before compression
	minCompressed        = 50 // a shorter payload is stored as it is, as the servers do
)

// A client that breaks the compressed protocol gets what the servers answer.
var (
	errOutOfOrder = mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)
	errUncompress = mysql.NewDefaultError(mysql.ER_NET_UNCOMPRESS_ERROR)
)

// Compressed is a connection to a client that asked for compression
// ("Compressed Packet" page of the MySQL manual). Packets are read from it and
// written to it as if they came plain: the compressed packets around them may
// hold a part of one or several. It holds a buffer only while there are bytes
// that came and were not read.
type Compressed struct {
	net.Conn
	Compression
	in       *Conn         // the compressed packets
	sequence atomic.Uint32 // the next one's number, whichever side sends it
	Opened   atomic.Uint32 // the number of the one that was read last
	inside   packetEnds

	stored int     // bytes left of a payload that is stored as it is
	rest   []byte  // bytes left of a payload that was decompressed
	pooled *[]byte // what rest stands in; nil: in memory of its own
}

// NewCompressed returns the connection that follows c's login.
func NewCompressed(c net.Conn, a Compression) net.Conn {
	in := NewConn(c)
	in.inner = true
	return &Compressed{Conn: c, Compression: a, in: in}
}

// NetConn returns the connection underneath.
func (c *Compressed) NetConn() net.Conn { return c.Conn }

// Read returns bytes of one compressed packet at a time, so that an answer's
// numbers go on from the command's own where several commands have come.
func (c *Compressed) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for c.stored == 0 && len(c.rest) == 0 {
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	var n int
	if c.stored > 0 {
		if err := c.in.Need(1); err != nil {
			return 0, cutShort(err)
		}
		n = copy(b, c.in.Unread()[:min(c.stored, len(c.in.Unread()))])
		c.in.Skip(n)
		c.stored -= n
	} else {
		n = copy(b, c.rest)
		if c.rest = c.rest[n:]; len(c.rest) == 0 {
			recycle(c.pooled)
			c.rest, c.pooled = nil, nil
		}
	}
	c.inside.pass(b[:n])
	return n, nil
}

// open begins the next compressed packet. One that is refused stays unread, so
// that nothing behind it is ever taken.
func (c *Compressed) open() error {
	if err := c.in.Need(compressedHeaderSize); err != nil {
		return err
	}
	h := c.in.Unread()
	length, sequence, size := uint24(h), uint32(h[3]), uint24(h[4:])
	if next := c.sequence.Load() & 0xff; sequence != next && (sequence != 0 || !c.inside.between()) {
		return fmt.Errorf("compressed packet %d instead of %d: %w", sequence, next, errOutOfOrder)
	}
	if size == 0 {
		c.stored = length
		c.in.Skip(compressedHeaderSize)
	} else if err := c.decompress(length, size); err != nil {
		return err
	}
	c.sequence.Store(sequence + 1)
	c.Opened.Store(sequence)
	return nil
}

// cutShort tells a connection that ends inside a compressed packet from one that
// ends between two.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decompress takes a compressed packet whose payload has the given length, and
// announces size bytes. These are not believed before the payload has come and
// is long enough for them.
func (c *Compressed) decompress(length, size int) error {
	if size > length*c.maxRatio() {
		return fmt.Errorf("%d bytes announced as %d: %w", length, size, errUncompress)
	}
	if err := c.in.Need(compressedHeaderSize + length); err != nil {
		return err
	}
	payload := c.in.Unread()[compressedHeaderSize : compressedHeaderSize+length]
	rest, pooled := borrow(size)
	if err := c.expand(rest, payload); err != nil {
		recycle(pooled)
		return fmt.Errorf("%v: %w", err, errUncompress) // an io.EOF in err is none of the connection
	}
	c.rest, c.pooled = rest, pooled
	c.in.Skip(compressedHeaderSize + length)
	return nil
}

// Write sends b in as few compressed packets as hold it.
func (c *Compressed) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		payload := b[written:min(len(b), written+MaxPayload)]
		if err := c.writePacket(payload); err != nil {
			return written, err
		}
		written += len(payload)
	}
	return written, nil
}

func (c *Compressed) writePacket(payload []byte) error {
	buf, pooled := borrow(min(compressedHeaderSize+len(payload), LargeBuffer))
	defer recycle(pooled)
	packet, size := buf[:compressedHeaderSize], 0
	if len(payload) >= minCompressed {
		var err error
		if packet, err = c.compress(packet, payload); err != nil {
			return err
		}
		size = len(payload)
	}
	if size == 0 || len(packet)-compressedHeaderSize >= size {
		packet, size = append(packet[:compressedHeaderSize], payload...), 0
	}
	putUint24(packet, len(packet)-compressedHeaderSize)
	packet[3] = byte(c.sequence.Add(1) - 1)
	putUint24(packet[4:], size)
	_, err := c.Conn.Write(packet)
	return err
}

// packetEnds follows the packets inside a client's compressed packets: where
// they end a command may begin, with which the numbers begin anew.
type packetEnds struct {
	header    [HeaderSize]byte
	got       int // bytes of header
	left      int // bytes of the payload that are still to come
	continued bool
}

// between reports whether all that passed are whole packets.
func (p *packetEnds) between() bool { return p.got == 0 && p.left == 0 && !p.continued }

func (p *packetEnds) pass(b []byte) {
	for len(b) > 0 {
		if p.left > 0 {
			n := min(p.left, len(b))
			p.left -= n
			b = b[n:]
			continue
		}
		n := copy(p.header[p.got:], b)
		b = b[n:]
		if p.got += n; p.got == HeaderSize {
			p.got, p.left = 0, uint24(p.header[:])
			p.continued = p.left == MaxPayload
		}
	}
}

// borrow returns a buffer of n bytes, one of a pool's where they are large enough.
// recycle takes it back.
func borrow(n int) (b []byte, pooled *[]byte) {
	switch {
	case n <= SmallBuffer:
		pooled = smallBuffers.Get().(*[]byte)
	case n <= LargeBuffer:
		pooled = largeBuffers.Get().(*[]byte)
	default:
		return make([]byte, n), nil
	}
	return (*pooled)[:n], pooled
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func putUint24(b []byte, n int) { b[0], b[1], b[2] = byte(n), byte(n>>8), byte(n>>16) }

// hasBegun reports whether a part of a compressed packet has come.
func (c *Compressed) hasBegun() bool {
	return c.stored > 0 || len(c.rest) > 0 || len(c.in.Unread()) > 0
}
