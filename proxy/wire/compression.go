package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Compression is what client and seqgate agreed on at login.
type Compression struct {
	Zstd  bool // else zlib
	Level int  // 1 to 22 for zstd, as the client asked; 6 for zlib
}

// maxRatio is how many bytes one compressed byte stands for at most: deflate
// has 258 bytes in 2 bits, zstd a block of 128 KiB in 4 bytes.
func (a Compression) maxRatio() int {
	if a.Zstd {
		return 128 << 10 / 4
	}
	return 1032
}

// compress appends src to dst, compressed.
func (a Compression) compress(dst, src []byte) ([]byte, error) {
	if a.Zstd {
		return compressZstd(dst, src, a.Level)
	}
	return compressZlib(dst, src)
}

// expand decompresses src, which has to fill dst to the byte.
func (a Compression) expand(dst, src []byte) error {
	if a.Zstd {
		return expandZstd(dst, src)
	}
	return expandZlib(dst, src)
}

var errAnnounced = errors.New("not of the announced length")

// ZlibLevel is the servers' own.
const ZlibLevel = 6

// Compressors and decompressors are large: they are in use only while one
// payload is compressed, never while a connection waits.
var (
	zlibWriters  sync.Pool // of *zlibWriter
	zlibReaders  sync.Pool // of *zlibReader
	zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool
	zstdDecoders sync.Pool
)

type zlibWriter struct {
	w   *zlib.Writer
	dst appender
}

type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

func compressZlib(dst, src []byte) ([]byte, error) {
	z, ok := zlibWriters.Get().(*zlibWriter)
	if !ok {
		w, err := zlib.NewWriterLevel(nil, ZlibLevel)
		if err != nil {
			return dst, err
		}
		z = &zlibWriter{w: w}
	}
	z.dst = dst
	z.w.Reset(&z.dst)
	_, err := z.w.Write(src)
	if err == nil {
		err = z.w.Close()
	}
	dst, z.dst = z.dst, nil
	zlibWriters.Put(z)
	return dst, err
}

type zlibReader struct {
	r   io.Reader // nil before the first header that is right
	src bytes.Reader
	end [1]byte
}

func expandZlib(dst, src []byte) error {
	z, ok := zlibReaders.Get().(*zlibReader)
	if !ok {
		z = new(zlibReader)
	}
	z.src.Reset(src)
	err := z.expand(dst)
	z.src.Reset(nil)
	zlibReaders.Put(z)
	return err
}

// expand reads to the stream's end, which is where its checksum is compared.
func (z *zlibReader) expand(dst []byte) error {
	var err error
	if z.r == nil {
		z.r, err = zlib.NewReader(&z.src)
	} else {
		err = z.r.(zlib.Resetter).Reset(&z.src, nil)
	}
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(z.r, dst); err != nil {
		return err
	}
	n, err := io.ReadFull(z.r, z.end[:])
	if n > 0 || err == io.EOF && z.src.Len() > 0 {
		return errAnnounced
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// zstdWindow is how far back the encoder looks. Answers come in smaller chunks.
const zstdWindow = 128 << 10

// zstdLevel returns the encoder's level for one that a client asked for. Above 9
// it would take 34 MB of tables for a few percent.
func zstdLevel(level int) zstd.EncoderLevel {
	return min(zstd.EncoderLevelFromZstd(level), zstd.SpeedBetterCompression)
}

func compressZstd(dst, src []byte, asked int) ([]byte, error) {
	level := zstdLevel(asked)
	e, ok := zstdEncoders[level].Get().(*zstd.Encoder)
	if !ok {
		var err error
		e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return dst, err
		}
	}
	dst = e.EncodeAll(src, dst)
	zstdEncoders[level].Put(e)
	return dst, nil
}

func expandZstd(dst, src []byte) error {
	d, ok := zstdDecoders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxPayload), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
	}
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	zstdDecoders.Put(d)
	if err != nil {
		return err
	}
	if len(out) != len(dst) {
		return fmt.Errorf("%d bytes, %w", len(out), errAnnounced)
	}
	return nil
}
