package proxy

import (
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/shapes"
)

// digestBuffers are those in which the shapes of statements are made.
var digestBuffers = sync.Pool{New: func() any { return new([]byte) }}

// countShapes has as many shapes of statements counted from now on; 0: none. Another number begins from nothing.
func (s *Server) countShapes(most int) {
	s.shapes.Store(nil)
	if most > 0 {
		s.shapes.Store(shapes.New(most))
	}
}

// Statements returns what was counted of statements by their shapes, and of all for which there was no room; none
// while Config.StatementShapes is 0. The latest slow statements stay when Config.SlowStatement becomes 0.
func (s *Server) Statements() (all []shapes.Count, others shapes.Count, slow []shapes.Slow) {
	if table := s.shapes.Load(); table != nil {
		all, others = table.Snapshot()
	}
	return all, others, s.slowest.Latest()
}

// beginShape begins the count of rows of a command that has just come, if shapes are counted.
func (s *observedSession) beginShape() {
	s.slow.shape = nil
	switch {
	case s.srv.shapes.Load() == nil:
	case s.router == nil:
		s.Answer.Rows = 0
	default:
		for _, conn := range s.router.conns.all {
			conn.Answer.Rows = 0
		}
	}
}

// noteShape notes which shape the text of the command under way has, if shapes are counted.
func (s *observedSession) noteShape(sql []byte) {
	table := s.srv.shapes.Load()
	if table == nil {
		return
	}
	buffer := digestBuffers.Get().(*[]byte)
	*buffer = s.appendDigest((*buffer)[:0], sql[:min(len(sql), maxSlowText)])
	s.slow.shape = table.Find(s.user, s.currentKeyspace(), *buffer)
	digestBuffers.Put(buffer)
}

// appendDigest appends a text without its values, as it reads in the session.
func (c *serverState) appendDigest(dst, sql []byte) []byte {
	var modes []parser.Mode
	switch {
	case c.State.EnvironmentKnown && !c.owner.routed() && parser.Single(sql):
		// In front of shards a SET may not have reached this connection yet; one of several statements may change how those behind it read.
		modes = []parser.Mode{c.State.Mode}
	case parser.Plain(sql):
		modes = []parser.Mode{{MariaDB: c.MariaDB}} // as Readings does, without memory of the heap
	default:
		modes = parser.Readings(sql, c.MariaDB)
	}
	return parser.AppendDigest(dst, sql, modes)
}

// endShape counts a command that has been answered. Where a statement was prepared, its shape is kept for its executions.
func (s *observedSession) endShape() {
	if s.slow.shape == nil && len(s.slow.shapes) == 0 {
		return
	}
	switch s.lastCommand {
	case mysql.COM_STMT_PREPARE:
		s.keepShape()
	case mysql.COM_QUERY:
		s.countShape(s.slow.shape)
	case mysql.COM_STMT_EXECUTE, comStmtBulkExecute:
		s.countShape(s.preparedShape())
	case mysql.COM_STMT_FETCH:
		if shape := s.preparedShape(); shape != nil {
			shape.Fetched(s.rowsRead())
		}
	}
}

func (s *observedSession) countShape(shape *shapes.Shape) {
	if t := &s.statistics; shape != nil && t.kind != meter.None {
		shape.Count(time.Since(t.began), t.class != meter.NoError, s.rowsRead())
	}
}

// keepShape keeps the shape of the statement that was prepared.
func (s *observedSession) keepShape() {
	id := s.preparedLast()
	if id == 0 || s.slow.shape == nil || len(s.slow.shapes) >= maxSlowPrepared {
		return
	}
	if s.slow.shapes == nil {
		s.slow.shapes = make(map[uint32]*shapes.Shape)
	}
	s.slow.shapes[id] = s.slow.shape
}

// preparedShape returns the shape of the prepared statement that the command under way is about; nil where it is not known.
func (s *observedSession) preparedShape() *shapes.Shape {
	id := s.lastPrepared
	if id == lastPrepared && s.MariaDB {
		id = s.preparedLast()
	}
	return s.slow.shapes[id]
}
