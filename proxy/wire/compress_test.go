package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// both are one of each algorithm.
var both = map[string]Compression{"zlib": {Level: 6}, "zstd": {Zstd: true, Level: 3}}

// stream is a connection whose peer sent all of in, and then ended it.
type stream struct {
	net.Conn
	in  bytes.Reader
	out bytes.Buffer
}

func (s *stream) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *stream) Write(b []byte) (int, error) { return s.out.Write(b) }

// sent is a connection on which these bytes have come.
func sent(a Compression, packets ...[]byte) *Compressed {
	s := new(stream)
	s.in.Reset(bytes.Join(packets, nil))
	return NewCompressed(s, a).(*Compressed)
}

// wrap puts a payload behind a compressed header of any content.
func wrap(sequence byte, size int, payload []byte) []byte {
	n := len(payload)
	header := []byte{byte(n), byte(n >> 8), byte(n >> 16), sequence, byte(size), byte(size >> 8), byte(size >> 16)}
	return append(header, payload...)
}

func compressed(t testing.TB, a Compression, payload []byte) []byte {
	t.Helper()
	b, err := a.compress(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// samples are packets of all lengths that matter, of text, of zeros and of bytes that cannot be compressed.
func samples() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	var all [][]byte
	for _, n := range []int{0, 1, minCompressed - HeaderSize - 1, minCompressed - HeaderSize, 1000, SmallBuffer, LargeBuffer, 300_000} {
		random := make([]byte, n)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		text := []byte(strings.Repeat("a row of a result, ", n/19+1)[:n])
		for _, payload := range [][]byte{random, text, make([]byte, n)} {
			p, _ := AppendPacket(nil, 0, payload)
			all = append(all, p)
		}
	}
	return all
}

// What one side writes the other reads, by reads of every size, and no buffer is kept behind the last byte.
func TestCompressedRoundTrip(t *testing.T) {
	for _, level := range []int{0, 1, 3, 6, 9, 22} {
		for _, zstd := range []bool{false, true} {
			a := Compression{Zstd: zstd, Level: level}
			var want []byte
			writer := sent(a)
			for _, b := range samples() {
				want = append(want, b...)
				if n, err := writer.Write(b); n != len(b) || err != nil {
					t.Fatalf("%+v: wrote %d of %d bytes: %v", a, n, len(b), err)
				}
			}
			packets := writer.Conn.(*stream).out.Bytes()
			for _, size := range []int{1, 64, 5000, 1 << 20} {
				c := sent(a, packets)
				got := new(bytes.Buffer)
				if _, err := io.CopyBuffer(struct{ io.Writer }{got}, c, make([]byte, size)); err != nil {
					t.Fatalf("%+v, reads of %d: %v", a, size, err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%+v, reads of %d: %d bytes differ from the %d written", a, size, got.Len(), len(want))
				}
				holdsNothing(t, c)
			}
		}
	}
}

func holdsNothing(t *testing.T, c *Compressed) {
	t.Helper()
	if c.rest != nil || c.pooled != nil || c.in.Buf != nil || c.in.pooled != nil {
		t.Errorf("an idle connection holds %d bytes decompressed and a buffer of %d", len(c.rest), len(c.in.Buf))
	}
}

// A write of more than 16 MiB takes several compressed packets; one of few bytes is stored, and so is one that
// compression would make longer.
func TestCompressedWriteSizes(t *testing.T) {
	random := samples()[12]
	for name, a := range both {
		t.Run(name, func(t *testing.T) {
			for _, test := range []struct {
				name  string
				write []byte
				want  []int // lengths as announced, 0 for a stored one
			}{
				{"nothing", nil, nil},
				{"49 bytes", make([]byte, 49), []int{0}},
				{"200 bytes", make([]byte, 200), []int{200}},
				{"random bytes", random, []int{0}},
				{"the largest", make([]byte, MaxPayload), []int{MaxPayload}},
				{"more", make([]byte, MaxPayload+100), []int{MaxPayload, 100}},
			} {
				c := sent(a)
				if _, err := c.Write(test.write); err != nil {
					t.Fatal(err)
				}
				var got []int
				for b := c.Conn.(*stream).out.Bytes(); len(b) > 0; b = b[compressedHeaderSize+uint24(b):] {
					if int(b[3]) != len(got) {
						t.Errorf("%s: packet %d has number %d", test.name, len(got), b[3])
					}
					got = append(got, uint24(b[4:]))
				}
				if fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("%s: announced %v, want %v", test.name, got, test.want)
				}
			}
		})
	}
}

// An answer's numbers go on from its command's, also when the next command has come already.
func TestCompressedSequence(t *testing.T) {
	ping := []byte{1, 0, 0, 0, 14}
	ok := []byte{1, 0, 0, 1, 0}
	long, _ := AppendPacket(nil, 0, make([]byte, 200))
	c := sent(both["zlib"], wrap(0, 0, ping), wrap(0, 0, ping), wrap(0, 0, long[:100]), wrap(1, 0, long[100:]), wrap(4, 0, ping))
	step := func(want int, numbers ...byte) {
		t.Helper()
		if _, err := io.ReadFull(c, make([]byte, want)); err != nil {
			t.Fatal(err)
		}
		for _, number := range numbers {
			out := &c.Conn.(*stream).out
			out.Reset()
			if _, err := c.Write(ok); err != nil {
				t.Fatal(err)
			}
			if got := out.Bytes()[3]; got != number {
				t.Errorf("number %d, want %d", got, number)
			}
		}
	}
	step(5, 1, 2)
	step(5, 1)
	step(204, 2, 3)
	step(5, 5) // bytes of a local file, say: the command goes on
}

// A malformed stream is read up to its fault, and ends with the error that the servers have for it.
func TestCompressedMalformed(t *testing.T) {
	packet, _ := AppendPacket(nil, 0, bytes.Repeat([]byte("0123456789"), 50))
	n := len(packet)
	largest, _ := AppendPacket(nil, 0, make([]byte, MaxPayload))
	for algorithm, a := range both {
		whole := compressed(t, a, packet)
		broken := bytes.Clone(whole)
		if a.Zstd {
			broken[0] ^= 0xff // there is no checksum, as in the servers' own
		} else {
			broken[len(broken)-1] ^= 0xff
		}
		bomb := compressed(t, a, make([]byte, 8<<20))
		for _, test := range []struct {
			name string
			in   [][]byte
			read int // bytes that come before the error
			want error
		}{
			{"nothing", nil, 0, io.EOF},
			{"whole", [][]byte{wrap(0, n, whole)}, n, io.EOF},
			{"empty stored", [][]byte{wrap(0, 0, nil), wrap(1, 0, packet)}, n, io.EOF},
			{"several in one", [][]byte{wrap(0, 2*n, compressed(t, a, append(packet, packet...)))}, 2 * n, io.EOF},
			{"one in several", [][]byte{wrap(0, 0, packet[:2]), wrap(1, n-2, compressed(t, a, packet[2:]))}, n, io.EOF},
			{"first number", [][]byte{wrap(1, n, whole)}, 0, errOutOfOrder},
			{"number left out", [][]byte{wrap(0, n, whole), wrap(2, n, whole)}, n, errOutOfOrder},
			{"number again", [][]byte{wrap(0, n, whole), wrap(1, n, whole), wrap(1, n, whole)}, 2 * n, errOutOfOrder},
			{"begun anew in a packet", [][]byte{wrap(0, 0, packet[:100]), wrap(0, 0, packet[100:])}, 100, errOutOfOrder},
			{"begun anew in a header", [][]byte{wrap(0, 0, packet[:2]), wrap(0, 0, packet[2:])}, 2, errOutOfOrder},
			{"begun anew in a continued payload", [][]byte{wrap(0, 0, largest[:10]), wrap(1, 0, largest[10:MaxPayload]),
				wrap(2, 0, largest[MaxPayload:MaxPayload+HeaderSize]), wrap(0, 0, packet)}, MaxPayload + HeaderSize, errOutOfOrder},
			{"announced too long", [][]byte{wrap(0, n+1, whole)}, 0, errUncompress},
			{"announced too short", [][]byte{wrap(0, n-1, whole)}, 0, errUncompress},
			{"announced without a payload", [][]byte{wrap(0, n, nil)}, 0, errUncompress},
			{"announced beyond any ratio", [][]byte{wrap(0, MaxPayload, whole[:20])}, 0, errUncompress},
			{"bomb", [][]byte{wrap(0, n, bomb)}, 0, errUncompress},
			{"cut by its length", [][]byte{wrap(0, n, whole[:len(whole)-1])}, 0, errUncompress},
			{"bytes behind the end", [][]byte{wrap(0, n, append(bytes.Clone(whole), 1, 2, 3, 4))}, 0, errUncompress},
			{"broken", [][]byte{wrap(0, n, broken)}, 0, errUncompress},
			{"not compressed", [][]byte{wrap(0, n, packet)}, 0, errUncompress},
			{"header cut off", [][]byte{wrap(0, n, whole)[:6]}, 0, io.ErrUnexpectedEOF},
			{"payload cut off", [][]byte{wrap(0, n, whole)[:compressedHeaderSize+9]}, 0, io.ErrUnexpectedEOF},
			{"payload missing", [][]byte{wrap(0, n, whole)[:compressedHeaderSize]}, 0, io.ErrUnexpectedEOF},
			{"stored cut off", [][]byte{wrap(0, 0, packet)[:compressedHeaderSize+9]}, 9, io.ErrUnexpectedEOF},
			{"stored missing", [][]byte{wrap(0, 0, packet)[:compressedHeaderSize]}, 0, io.ErrUnexpectedEOF},
		} {
			t.Run(algorithm+"/"+test.name, func(t *testing.T) {
				c := sent(a, test.in...)
				b := make([]byte, 4096)
				read, err := 0, error(nil)
				for err == nil {
					var n int
					n, err = c.Read(b)
					read += n
				}
				if read != test.read || !errors.Is(err, test.want) {
					t.Errorf("%d bytes, then %q; want %d, then %q", read, err, test.read, test.want)
				}
				if test.want != io.EOF && errors.Is(err, io.EOF) {
					t.Errorf("%q is taken for the connection's end", err)
				}
				if _, again := c.Read(b); !errors.Is(again, test.want) {
					t.Errorf("read again: %v", again)
				}
			})
		}
	}
}

// What a client announces costs nothing before it is sent.
func TestCompressedClaimsCostNothing(t *testing.T) {
	for name, a := range both {
		t.Run(name, func(t *testing.T) {
			short := wrap(0, MaxPayload, make([]byte, 400))
			claim := wrap(0, MaxPayload, nil)
			putUint24(claim, MaxPayload)
			tooLong := wrap(0, 100, compressed(t, a, make([]byte, 8<<20)))
			for _, in := range [][]byte{short, claim, tooLong} {
				read := func() {
					if _, err := sent(a, in).Read(make([]byte, 64)); err == nil {
						t.Fatal("no error")
					}
				}
				read() // fills the pools
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				read()
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > 512<<10 {
					t.Errorf("%d bytes on the wire cost %d", len(in), got)
				}
			}
		})
	}
}

// Connections on which commands came and were answered hold no buffers and no compressors while they wait.
func TestCompressedIdleMemory(t *testing.T) {
	const conns, most = 200, 2 << 10
	packet, _ := AppendPacket(nil, 0, make([]byte, 5000))
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // the pools' own
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, a := range both {
		t.Run(name, func(t *testing.T) {
			var idle []*Compressed
			for range conns {
				near, far := tcpPair(t)
				idle = append(idle, NewCompressed(near, a).(*Compressed), NewCompressed(far, a).(*Compressed))
			}
			before := heap()
			for i := 0; i < len(idle); i += 2 {
				exchange(t, idle[i], idle[i+1], packet)
			}
			per := (int64(heap()) - int64(before)) / int64(len(idle))
			t.Logf("%d bytes for each idle connection, beside its own struct", per)
			if per > most {
				t.Errorf("%d bytes for each idle connection, want at most %d", per, most)
			}
			for _, c := range idle {
				holdsNothing(t, c)
			}
		})
	}
}

// exchange sends a packet and its answer, and lets both sides wait once for what does not come.
func exchange(t *testing.T, client, server *Compressed, packet []byte) {
	t.Helper()
	for _, way := range [][2]*Compressed{{client, server}, {server, client}} {
		if _, err := way[0].Write(packet); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(way[1], make([]byte, len(packet))); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*Compressed{client, server} {
		if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("an idle connection gave %v", err)
		}
	}
}

func tcpPair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// FuzzCompressedRead compares what is read of any bytes with what a plain reading of the manual gives.
func FuzzCompressedRead(f *testing.F) {
	packet, _ := AppendPacket(nil, 0, bytes.Repeat([]byte("0123456789"), 50))
	for _, a := range both {
		whole := compressed(f, a, packet)
		f.Add(a.Zstd, wrap(0, len(packet), whole))
		f.Add(a.Zstd, append(wrap(0, 0, packet[:7]), wrap(1, len(packet)-7, compressed(f, a, packet[7:]))...))
		f.Add(a.Zstd, append(wrap(0, len(packet), whole), wrap(0, len(packet)+1, whole)...))
		f.Add(a.Zstd, wrap(0, len(packet), compressed(f, a, make([]byte, 1<<20))))
	}
	f.Fuzz(func(t *testing.T, zstd bool, in []byte) {
		a := Compression{Zstd: zstd, Level: 3}
		c := sent(a, in)
		var got []byte
		b := make([]byte, 100)
		err := error(nil)
		for n := 0; err == nil; {
			n, err = c.Read(b)
			got = append(got, b[:n]...)
		}
		want, whole := plainRead(a, in)
		if !bytes.Equal(got, want) {
			t.Errorf("read %q, want %q; then %v", got, want, err)
		}
		if whole != (err == io.EOF) {
			t.Errorf("ended with %v; a well-formed stream: %v", err, whole)
		}
	})
}

// plainRead reads all of a stream with the standard library's zlib or zstd's streaming decoder. It gives what comes before
// the first fault, and whether there is none.
func plainRead(a Compression, in []byte) (out []byte, whole bool) {
	next := byte(0)
	for len(in) > 0 {
		if len(in) < compressedHeaderSize {
			return out, false
		}
		length, sequence, size := uint24(in), in[3], uint24(in[4:])
		if sequence != next && (sequence != 0 || !wholePackets(out)) {
			return out, false
		}
		next = sequence + 1
		in = in[compressedHeaderSize:]
		payload := in[:min(length, len(in))]
		if size == 0 {
			out = append(out, payload...)
		}
		if len(payload) < length {
			return out, false
		}
		if size > 0 {
			plain, err := plainExpand(a, payload, size)
			if err != nil || len(plain) != size {
				return out, false
			}
			out = append(out, plain...)
		}
		in = in[length:]
	}
	return out, true
}

// plainExpand gives at most one byte more than the size.
func plainExpand(a Compression, payload []byte, size int) ([]byte, error) {
	src := bytes.NewReader(payload)
	var r io.Reader
	if a.Zstd {
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxPayload)) // no server needs more for one packet
		if err != nil {
			return nil, err
		}
		defer d.Close()
		r = d
	} else {
		z, err := zlib.NewReader(src)
		if err != nil {
			return nil, err
		}
		r = z
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && src.Len() > 0 {
		err = errors.New("bytes behind the end")
	}
	return b, err
}

// wholePackets reports whether b is packets that are all there.
func wholePackets(b []byte) bool {
	continued := false
	for len(b) > 0 {
		if len(b) < HeaderSize || len(b) < HeaderSize+uint24(b) {
			return false
		}
		continued = uint24(b) == MaxPayload
		b = b[HeaderSize+uint24(b):]
	}
	return !continued
}

// rows is a chunk of a result, as a server sends it.
func rows(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b []byte
	for sequence := byte(2); len(b) < n; {
		row := fmt.Appendf([]byte{6}, "%06d", r.IntN(1e6))
		row = append(append(row, 20), "customer's name here"...)
		row = binary.LittleEndian.AppendUint16(append(row, 2), uint16(r.Uint32()))
		b, sequence = AppendPacket(b, sequence, row)
	}
	return b[:n]
}

func BenchmarkCompressedWrite(b *testing.B) {
	for _, a := range []Compression{{Level: 6}, {Zstd: true, Level: 1}, {Zstd: true, Level: 3}, {Zstd: true, Level: 9}, {Zstd: true, Level: 22}} {
		for _, size := range []int{40, 1 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("zstd=%v/level=%d/%d", a.Zstd, a.Level, size), func(b *testing.B) {
				c := sent(a)
				chunk := rows(size)
				out := &c.Conn.(*stream).out
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					out.Reset()
					if _, err := c.Write(chunk); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(out.Len())/float64(size), "ratio")
			})
		}
	}
}

func BenchmarkCompressedRead(b *testing.B) {
	for name, a := range both {
		for _, size := range []int{40, 1 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				w := sent(a)
				command, _ := AppendPacket(nil, 0, rows(size-HeaderSize))
				if _, err := w.Write(command); err != nil {
					b.Fatal(err)
				}
				packet := w.Conn.(*stream).out.Bytes()
				c := sent(a)
				in := &c.Conn.(*stream).in
				buf := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					in.Reset(packet)
					if _, err := io.ReadFull(c, buf); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
