package proxy

import (
	"bytes"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/socket"
)

// Where a session may be ended while its client goes on speaking: behind the answer to
// a statement, when that is likely to be the last that a program asks before it gives
// the connection back to its pool. What pools and drivers send ahead of a statement is
// none: they look at no connection between the two.

// mayEnd reports whether a session that waits for a command outside of a transaction
// is to be ended, when the server drains.
func (c *clientConn) mayEnd() bool {
	quiet := c.srv.settings().Quiet
	if quiet == 0 || c.quiet.Load() > quietLooks {
		return true
	}
	// An answer that has left before the drain began may have its client's next statement on the way.
	// Drivers make their settings at the begin of a session.
	return c.holds && c.behindStatement() && time.Since(c.loggedIn) >= quiet
}

// behindStatement reports whether the latest command was a whole statement, which
// leaves nothing to be asked for.
func (c *clientConn) behindStatement() bool {
	switch c.lastCommand {
	case mysql.COM_QUERY, mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_FETCH:
	default:
		// A look at the connection, a reset of it, or what an execution follows; behind
		// COM_STMT_CLOSE, which has no answer, the next command is on its way.
		return false
	}
	switch {
	case c.statistics.kind == meter.Set, c.statistics.kind == meter.Prepare: // what follows relies on it
		return false
	case c.looked, len(c.cursors) > 0:
		return false
	}
	return true
}

// looks are the statements with which pools look at a connection before they lend it,
// and nobody else asks anything.
var looks = [][]byte{[]byte("SELECT 1"), []byte("SELECT 1 FROM DUAL")}

// noteLook notes whether a text is such a statement.
func (c *clientConn) noteLook(sql []byte) {
	if !c.srv.draining.Load() || len(sql) > 64 {
		return
	}
	words := bytes.Join(bytes.Fields(bytes.TrimRight(sql, "; \t\r\n")), []byte(" "))
	for _, look := range looks {
		c.looked = c.looked || bytes.EqualFold(words, look)
	}
}

// commandHasCome reports whether bytes of a command have come, wherever they are: a
// client cannot have known then that its session would end. It may take back an
// interruption, so its reason has to be looked for after that. Of a record of TLS of which
// a part has come nothing is seen.
func (c *clientConn) commandHasCome() bool {
	return len(c.front.Unread()) > 0 || c.front.HasBuffered() || socket.HasPending(c.front.Conn)
}
