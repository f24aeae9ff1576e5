package proxy

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/shapes"
)

// The log of slow statements: one line for each that takes Config.SlowStatement or longer, from its first byte to the
// last of its answer, without its values.

const (
	maxSlowText     = 8 << 10 // bytes of a text that its digest is made of
	maxSlowPrepared = 1 << 10 // prepared statements that a session remembers the digests of
)

// slowLog is what a session keeps for that, while slow statements are logged.
type slowLog struct {
	began    time.Time
	text     []byte            // of the command under way
	prepared map[uint32]string // digests by the id of a prepared statement

	shape  *shapes.Shape            // of the command under way, while shapes are counted (shape.go)
	shapes map[uint32]*shapes.Shape // by the id of a prepared statement
}

// beginSlow notes what runs from now on.
func (s *observedSession) beginSlow() {
	s.slow.began, s.slow.text = time.Now(), nil
	for _, conn := range s.allConns() {
		conn.Answer.Rows = 0
	}
}

// noteText keeps the text of the command under way, which the client's buffer will not.
func (s *observedSession) noteText(sql []byte) {
	s.noteLook(sql)
	s.noteShape(sql)
	if s.srv.settings().SlowStatement > 0 {
		s.slow.text = append([]byte(nil), sql[:min(len(sql), maxSlowText)]...)
	}
}

// endSlow logs the command that has ended, if it was slow. failed is the error that ended it, if one did.
func (s *observedSession) endSlow(least time.Duration, failed error) {
	took := time.Since(s.slow.began)
	if s.lastCommand == mysql.COM_STMT_PREPARE {
		s.rememberDigest()
	}
	if took >= least && isStatement(s.lastCommand) {
		slow := shapes.Slow{Ended: time.Now(), User: s.user, Keyspace: s.currentKeyspace(), Shards: s.usedShards(), Took: took,
			Rows: s.rowsRead(), Failed: failed != nil || s.Answer.Failed, Text: s.digest()}
		s.srv.slowest.Add(slow)
		s.log.Warn("slow statement", "user", slow.User, "keyspace", slow.Keyspace, "shards", slow.Shards, "duration", slow.Took,
			"rows", slow.Rows, "failed", slow.Failed, "statement", slow.Text)
	}
	s.slow.text = nil
}

// isStatement reports whether a command runs or prepares a statement.
func isStatement(code byte) bool {
	switch code {
	case mysql.COM_QUERY, mysql.COM_STMT_PREPARE, mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_FETCH:
		return true
	}
	return false
}

// digest returns the command under way without its values.
func (x *relayer) digest() string {
	switch x.lastCommand {
	case mysql.COM_QUERY, mysql.COM_STMT_PREPARE:
		return x.digestOf(x.slow.text)
	case mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_FETCH:
		return x.slow.prepared[x.lastPrepared]
	}
	return ""
}

func (c *serverState) digestOf(sql []byte) string {
	return string(c.appendDigest(nil, sql))
}

// rememberDigest keeps what an execution of the statement that was prepared will be logged as.
func (s *observedSession) rememberDigest() {
	id := s.preparedLast()
	if id == 0 || len(s.slow.prepared) >= maxSlowPrepared {
		return
	}
	if s.slow.prepared == nil {
		s.slow.prepared = make(map[uint32]string)
	}
	s.slow.prepared[id] = s.digestOf(s.slow.text)
}

// statementIDEnd is where the id of a prepared statement ends in the commands that are about one.
const statementIDEnd = 5

// preparedLast returns the id of the statement that the client prepared last; 0 when that failed.
func (s *observedSession) preparedLast() uint32 {
	if s.router != nil {
		return s.router.prepared.last
	}
	return s.lastStmt
}

// allConns returns the connections to servers that the session has.
func (s *observedSession) allConns() []*executor {
	if s.router == nil {
		return []*executor{s.executor}
	}
	return s.router.conns.all
}

// rowsRead is how many rows the servers sent for the command; those that several shards sent may be fewer for the client.
func (s *observedSession) rowsRead() (n uint64) {
	if s.router == nil {
		return s.Answer.Rows
	}
	for _, conn := range s.router.conns.all {
		n += conn.Answer.Rows
	}
	return n
}

// usedShards returns the shards that ran the latest statement, with a comma between them.
func (s *observedSession) usedShards() string {
	if s.router == nil {
		return s.keyspace.Shard
	}
	used := s.router.several
	if s.router.last != nil {
		used = []*executor{s.router.last}
	}
	var names []string
	for _, conn := range used {
		names = append(names, conn.keyspace.String())
	}
	return strings.Join(names, ",")
}

// routedKeyspace returns the name of the keyspace that the statements of a routed session are about, "" in any other.
func (s *observedSession) routedKeyspace() string {
	if s.router == nil || s.router.Keyspace == nil {
		return ""
	}
	return s.router.Keyspace.Name
}

func (s *observedSession) currentKeyspace() string {
	return cmp.Or(s.routedKeyspace(), s.keyspace.Name)
}
