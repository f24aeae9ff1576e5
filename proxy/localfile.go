package proxy

import (
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// localFile is a client's local file, as packets up to an empty one, which one of
// 2^24-1 bytes may make the rest of itself.
type localFile struct {
	wire      *wire.Conn
	want      byte // the number of the next packet
	left      int  // bytes of the one under way
	continued bool
	ended     bool
}

// next returns the bytes of the file that have come, at least one, which the caller
// skips; none at its end.
func (f *localFile) next() ([]byte, error) {
	for f.left == 0 {
		length, number, err := f.wire.Header()
		switch {
		case err != nil:
			return nil, &frontError{err}
		case number != f.want:
			return nil, &wire.OrderError{Want: f.want}
		}
		f.wire.Skip(wire.HeaderSize)
		f.want++
		f.ended = length == 0 && !f.continued
		f.continued = length == wire.MaxPayload
		if f.left = length; f.ended {
			return nil, nil
		}
	}
	f.wire.Bulk = true
	if len(f.wire.Unread()) == 0 {
		if err := f.wire.Fill(); err != nil {
			return nil, &frontError{err}
		}
	}
	chunk := f.wire.Unread()[:min(f.left, len(f.wire.Unread()))]
	f.left -= len(chunk)
	return chunk, nil
}

// filledFile passes a file to the server, with ids for its rows.
type filledFile struct {
	executor *insertRunner
	load     *loadPlan
	number   byte // of the next packet to the server

	text []byte // of the file, that was not passed yet
	rows []parser.LoadRow
	ids  []int64 // of the open ones
	body []byte  // text with ids
	out  []byte  // body in packets
}

const (
	// filePiece is how much of a file is dealt with at once.
	filePiece = 64 << 10
	// filePacket is how much of it one packet to the server holds: less than any
	// max_allowed_packet in use.
	filePacket = 16 << 10
)

// pass passes the file on, up to its end. Errors of its own, not of one of the
// connections, leave the file at the begin of a packet or within one.
func (f *filledFile) pass(file *localFile) error {
	for {
		chunk, err := file.next()
		if err != nil {
			return err
		}
		f.text = append(f.text, chunk...)
		file.wire.Skip(len(chunk))
		if !file.ended && len(f.text) < filePiece && len(file.wire.Unread()) > 0 {
			continue
		}
		if err := f.fill(file.ended); err != nil {
			return err
		}
		if file.ended {
			f.out = f.packet(f.out[:0], nil)
			return f.executor.WriteFile(f.out)
		}
	}
}

// fill passes on what has come of the file, with an id for each row.
func (f *filledFile) fill(final bool) error {
	var n int
	var err error
	f.rows, n, err = f.load.file.Split(f.rows[:0], f.text, final)
	if err == nil {
		err = f.takeIDs()
	}
	var faulty *parser.FileError
	if errors.As(err, &faulty) {
		return catalog.Unsupported("LOAD DATA of a file whose "+err.Error(), f.load.fill.Binding.Table, "correct the file, or leave the id out of it")
	}
	if err != nil {
		return err
	}
	at := 0
	next := func() int64 { at++; return f.ids[at-1] }
	f.body = f.load.file.AppendRows(f.body[:0], f.text[:n], f.rows, next)
	f.text = f.text[:copy(f.text, f.text[n:])]
	f.out = f.out[:0]
	for body := f.body; len(body) > 0; {
		size := min(len(body), filePacket)
		f.out = f.packet(f.out, body[:size])
		body = body[size:]
	}
	return f.executor.WriteFile(f.out)
}

// packet appends the next packet to dst.
func (f *filledFile) packet(dst, payload []byte) []byte {
	dst, f.number = wire.AppendPacket(dst, f.number, payload)
	return dst
}

// takeIDs takes an id for each open row of f.rows: none that a row before it has
// brought along.
func (f *filledFile) takeIDs() error {
	f.ids = f.ids[:0]
	isOpen := func(r parser.LoadRow) bool { return r.Slot.State == parser.Open }
	isOwn := func(r parser.LoadRow) bool { return !isOpen(r) }
	for rows := f.rows; len(rows) > 0; {
		open := leading(rows, isOpen)
		if err := f.takeBlock(int64(open)); err != nil {
			return err
		}
		rows = rows[open:]
		own := leading(rows, isOwn)
		if err := f.noteOwn(rows[:own]); err != nil {
			return err
		}
		rows = rows[own:]
	}
	return nil
}

// leading counts the rows at the begin for which is holds.
func leading(rows []parser.LoadRow, is func(parser.LoadRow) bool) int {
	for i, r := range rows {
		if !is(r) {
			return i
		}
	}
	return len(rows)
}

// takeBlock takes the ids of n rows.
func (f *filledFile) takeBlock(n int64) error {
	if n == 0 {
		return nil
	}
	f.load.rows += uint64(n)
	most := n
	if numbers := f.load.fill.Binding.Numbers; numbers != nil {
		most = numbers.Longest
	}
	for n > 0 {
		block := idBlock{count: min(n, most)}
		p, err := f.takePiece(block.count)
		if err != nil {
			return err
		}
		f.load.remember(idBlock{p.First, p.Span()})
		for i := range block.count {
			f.ids = append(f.ids, p.ID(int(i)))
		}
		n -= block.count
	}
	return nil
}

// takePiece takes n ids that follow each other.
func (f *filledFile) takePiece(n int64) (plan.Fill, error) {
	p := f.load.fill
	p.Open, p.Rows, p.Ahead, p.Own = n, int(f.load.rows), true, f.load.own.each
	if p.MovesAhead() && f.load.own.over {
		return p, catalog.Unsupported(fmt.Sprintf("LOAD DATA of rows without an id behind more than %d others with one", maxOwnRanges), p.Binding.Table,
			"load the rows with ids of their own from a file before")
	}
	if p.Binding.Numbers != nil {
		p.Step = 1 // as many as it has that follow each other
	}
	err := f.executor.spread(&p)
	switch {
	case err != nil:
	case p.Binding.Numbers != nil:
		p.First, err = f.executor.next(p.Binding, p.Span())
	default:
		err = f.executor.takeBlock(&p)
	}
	return p, err
}

// noteOwn takes in the ids that rows brought along.
func (f *filledFile) noteOwn(rows []parser.LoadRow) error {
	fill := &f.load.fill
	for _, row := range rows {
		f.load.rows++
		if fill.Binding.Judge(row.Slot, false).State == parser.Open {
			return &parser.FileError{Row: int64(f.load.rows), Reason: "has a negative id, which the column does not hold"}
		}
		fill.NoteExplicit(row.Slot)
		if fill.HasExplicit && fill.MovesAhead() {
			f.load.own.add(fill.Explicit)
		}
	}
	return nil
}

// remember keeps a block of ids that rows got.
func (l *loadPlan) remember(b idBlock) {
	if n := len(l.ids); n > 0 && l.ids[n-1].first+l.ids[n-1].count == b.first {
		l.ids[n-1].count += b.count
	} else if n < maxBlocks {
		l.ids = append(l.ids, b)
	}
}
