package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/wire"
)

// scattered is a SELECT that several connections answer, and whose rows are merged into one
// result as they come.
type scattered struct {
	router *shardedConn
	conns  []*executor
	how    *parser.Scatter
	// send sends the command to a connection.
	send func(i int, conn *executor) error
	// take, if set, gets the merged rows in the place of the client.
	take          func(rows *merge.Rows, columns [][]byte) error
	binary        bool
	offset, count uint64

	sources  []*shardRows
	warnings uint16
	rows     uint64
}

// maxHeldRows and maxHeldBytes are how many rows are held at most for one statement
// whose rows have to be collected, and how long they may be together.
const (
	maxHeldRows  = 100_000
	maxHeldBytes = 64 << 20
)

// answer asks all connections and gives the client their merged answer. A *merge.NumberError
// asks for another way to merge; nothing was sent to the client then. All answers are
// read to their ends, unless a connection fails.
func (q *scattered) answer() error {
	err := q.ask()
	if err == nil {
		err = q.merge()
	}
	for _, source := range q.sources {
		err = errors.Join(err, source.drain())
	}
	q.router.ran(-1, q.rows)
	return err // in the place of the rest, if rows were sent: as a server does
}

// ask sends the statement to all connections, and reads what stands before their rows.
func (q *scattered) ask() error {
	if err := raiseTimeouts(q.conns); err != nil {
		return err
	}
	for i, conn := range q.conns {
		conn.Boundary, conn.Sent = false, true
		if err := q.send(i, conn); err != nil {
			return err
		}
		q.sources = append(q.sources, &shardRows{conn: conn})
	}
	var failed error
	for _, source := range q.sources {
		if err := source.begin(); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (q *scattered) merge() error {
	rows := make([]merge.Source, len(q.sources))
	each := make([][][]byte, len(q.sources))
	columns := q.sources[0].columns
	for i, source := range q.sources {
		rows[i], each[i] = source, source.columns
		if len(source.columns) != len(columns) {
			return mysql.NewError(mysql.ER_UNKNOWN_ERROR, fmt.Sprintf(
				"shard %s answers with %d columns and shard %s with %d; let the tables of all shards have the same columns",
				q.conns[0].keyspace, len(columns), q.conns[i].keyspace, len(source.columns)))
		}
	}
	merged, err := merge.New(merge.Config{Scatter: q.how, Columns: columns, Each: each, Binary: q.binary,
		Offset: q.offset, Count: q.count, MaxRows: maxHeldRows, MaxBytes: maxHeldBytes}, rows)
	if err != nil {
		return err
	}
	if q.take != nil {
		return q.take(merged, columns[:merged.Visible()])
	}
	return q.pass(merged, columns[:merged.Visible()])
}

// pass sends the client the merged result.
func (q *scattered) pass(merged *merge.Rows, columns [][]byte) error {
	s := q.router.s
	out := newAnswerWriter(&s.relayer)
	out.define(columns, q.end())
	for {
		row, err := merged.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out.discard()
			return err
		}
		q.rows++
		if out.add(row); out.err != nil {
			return out.err
		}
	}
	for _, source := range q.sources {
		if err := source.drain(); err != nil {
			out.discard()
			return err
		}
		q.warnings += source.warnings
	}
	out.add(q.end())
	return out.flush()
}

// end returns the packet that ends the definitions, or the rows.
func (q *scattered) end() []byte {
	s := q.router.s
	status := q.router.status()
	if s.out.more {
		status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	if s.DeprecateEOF() {
		return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte{mysql.EOF_HEADER, 0, 0}, status), q.warnings)
	}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte{mysql.EOF_HEADER}, q.warnings), status)
}

// shardRows are the rows of one connection's answer.
type shardRows struct {
	conn     *executor
	columns  [][]byte // the payloads of their definitions
	size     int      // of the packet that was given last, which is still unread
	begun    bool     // the answer's beginning was looked at
	warnings uint16
	failed   error // of the connection: nothing more can be read
}

// begin reads what stands before the rows. An error packet is a *wire.ServerError.
func (l *shardRows) begin() error {
	l.begun = true
	l.conn.StartAnswer(wire.ShapeResults)
	payload, err := l.next()
	if err != nil {
		return err
	}
	if l.conn.Answer.Done() {
		return l.fail(fmt.Errorf("the answer to a query of shard %s has no rows", l.conn.keyspace))
	}
	count, _, _ := wire.LengthEncoded(payload)
	for l.conn.Answer.Phase == wire.PhaseColumns {
		payload, err := l.next()
		if err != nil {
			return err
		}
		l.columns = append(l.columns, append([]byte(nil), payload...))
	}
	if uint64(len(l.columns)) != count {
		return l.fail(fmt.Errorf("the answer of shard %s has %d definitions for %d columns", l.conn.keyspace, len(l.columns), count))
	}
	if l.conn.Answer.Phase == wire.PhaseColumnEOF {
		_, err = l.next()
	}
	return err
}

// next returns the answer's next packet.
func (l *shardRows) next() ([]byte, error) {
	l.conn.Wire.Skip(l.size)
	l.size = 0
	payload, size, err := l.conn.Follow()
	if err != nil {
		return nil, l.fail(err)
	}
	l.size = size
	if l.conn.Answer.Failed {
		return nil, &wire.ServerError{Packet: append([]byte(nil), payload...)}
	}
	return payload, nil
}

func (l *shardRows) fail(err error) error {
	l.failed = &backend.LostError{Err: err}
	return l.failed
}

// Next returns the next row (merge.Source).
func (l *shardRows) Next() ([]byte, error) {
	if l.failed != nil {
		return nil, l.failed
	}
	if l.conn.Answer.Done() {
		return nil, io.EOF
	}
	payload, err := l.next()
	if err == nil && l.conn.Answer.Done() {
		l.noteEnd(payload)
		return nil, io.EOF
	}
	return payload, err
}

// noteEnd takes the number of warnings from the packet that ended the rows.
func (l *shardRows) noteEnd(payload []byte) {
	if l.conn.DeprecateEOF() {
		if ok, valid := wire.ParseOK(payload); valid {
			l.warnings = ok.Warnings
		}
	} else if len(payload) >= 3 {
		l.warnings = binary.LittleEndian.Uint16(payload[1:])
	}
}

// drain reads the rest of the answer, so that the connection can be asked again. The
// server's own error in it was told, or is of no interest any more.
func (l *shardRows) drain() error {
	if !l.begun && l.failed == nil {
		l.begun = true
		l.conn.StartAnswer(wire.ShapeResults)
	}
	for l.failed == nil && !l.conn.Answer.Done() {
		var refused *wire.ServerError
		payload, err := l.next()
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if l.conn.Answer.Done() && err == nil {
			l.noteEnd(payload)
		}
	}
	if l.failed == nil {
		l.conn.Wire.Skip(l.size)
		l.size = 0
		l.conn.Boundary = true
	}
	return nil
}
