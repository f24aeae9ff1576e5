package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// notePrepared notes that the connection has a statement of the client's. Those of a
// routed session are prepared again on another connection.
func (c *serverConn) notePrepared(id uint32) {
	c.lastStmt, c.prepared = id, c.prepared || c.clientStatementID == 0
}

// idForClient returns the id by which the client is to know a statement.
func (c *serverConn) idForClient(id uint32) uint32 {
	if c.clientStatementID != 0 {
		return c.clientStatementID
	}
	return id
}

// remember keeps a statement by its id at the backend. Those of a routed session are
// kept by the router.
func (c *serverConn) remember(st *statement) {
	if c.clientStatementID != 0 {
		return
	}
	if c.stmts == nil {
		c.stmts = make(map[uint32]*statement)
	}
	c.stmts[st.id] = st
}

// executesNamed reports whether a text may execute such a statement, or give it up.
func (c *serverConn) executesNamed(sql []byte) bool {
	return len(c.named) > 0 && plan.ContainsAnyWord(sql, "execute", "prepare")
}

// rememberNamed notes what was prepared under a client's name.
func (c *serverConn) rememberNamed(name string, st *namedStmt) {
	if c.named == nil {
		c.named = make(map[string]*namedStmt)
	}
	c.named[name] = st
}

// prepareText returns a PREPARE of the text.
func (c *serverConn) prepareText(before []byte, name string, text []byte) []byte {
	return parser.AppendLiteral(fmt.Appendf(before, "PREPARE %s FROM ", name), text, c.State.Mode)
}

// forgetNamed gives up what a client's name stands for.
func (c *serverConn) forgetNamed(name string) error {
	st := c.named[name]
	delete(c.named, name)
	if st == nil || st.fill == nil {
		return nil
	}
	err := c.deallocate(st.server)
	if st.hasFilled {
		err = errors.Join(err, c.deallocate(st.filledName()))
	}
	return err
}

func (c *serverConn) deallocate(server string) error {
	return ignoreRefusal(c.Quietly("DEALLOCATE PREPARE " + server))
}

// ownPrepared counts the prepared statements that seqgate answers by itself, of which
// no server has a limit. It is exact where it may be maxPrepared, else not above that.
func (c *serverConn) ownPrepared() (n int) {
	if len(c.stmts) < maxPrepared {
		return 0
	}
	for _, st := range c.stmts {
		if st.next != nil {
			n++
		}
	}
	return n
}

// unknownStatement is the server's error for an id that it did not give, or has taken
// back.
func (c *serverConn) unknownStatement(id uint32, code byte) error {
	name := "mysql_stmt_precheck"
	if c.MariaDB {
		name = map[byte]string{
			mysql.COM_STMT_EXECUTE: "mysqld_stmt_execute", comStmtBulkExecute: "mysqld_stmt_bulk_execute",
			mysql.COM_STMT_RESET: "mysqld_stmt_reset", mysql.COM_STMT_FETCH: "mysqld_stmt_fetch",
		}[code]
	}
	text := strconv.FormatUint(uint64(id), 10)
	return mysql.NewDefaultError(mysql.ER_UNKNOWN_STMT_HANDLER, len(text), text, name)
}

// closeOwn closes a statement that seqgate has prepared.
func (c *serverConn) closeOwn(st *statement) error {
	if err := c.SendClose(st.id); err != nil || st.filled == 0 {
		return err
	}
	return c.SendClose(st.filled)
}

// dropStale forgets at the backend what was sent ahead for an execution of the other statement.
func (c *serverConn) dropStale(st *statement) error {
	id := st.stale
	if st.stale = 0; id == 0 {
		return nil
	}
	return c.ResetBackend(id)
}

// dropLong forgets values that were sent ahead for an execution that was refused.
func (c *serverConn) dropLong(st *statement) error {
	if len(st.long) == 0 {
		return nil
	}
	st.long, st.stale = nil, 0
	err := c.ResetBackend(st.id)
	if st.filled != 0 {
		err = errors.Join(err, c.ResetBackend(st.filled))
	}
	return err
}

// cutPrepared remembers a statement by its COM_STMT_PREPARE_OK, from which it takes
// seqgate's own parameters. It gives which of the packets behind it tell of those.
func (c *serverConn) cutPrepared(st *statement, payload []byte, own []int) (drop map[int]bool) {
	const count, metadataFollows = 7, 12
	all := int(binary.LittleEndian.Uint16(payload[count:]))
	st.id, st.params = binary.LittleEndian.Uint32(payload[1:]), all-len(own)
	binary.LittleEndian.PutUint32(payload[1:], c.idForClient(st.id))
	binary.LittleEndian.PutUint16(payload[count:], uint16(st.params))
	c.notePrepared(st.id)
	c.remember(st)
	drop = make(map[int]bool)
	definitions := 0
	if !c.Has(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA) || payload[metadataFollows] == wire.DefinitionsFollow {
		definitions = all
		for _, i := range own {
			drop[i] = true
		}
	}
	if st.params == 0 && !c.DeprecateEOF() {
		drop[definitions] = true // the EOF behind them
	}
	return drop
}

// denial returns the server's error where it does not take a statement of the client's account: what seqgate's own account
// reads of the table is then not for the client.
func (c *serverConn) denial(sql []byte) error { return c.tryPrepare(sql) }

// hasOwn reports whether something may have been made on a connection that no other can get:
// what SET has set, and what drivers have prepared, goes to each connection that is used.
func (c *serverConn) hasOwn() bool {
	return c.temporary != nil || c.hasSessionState || len(c.named) > 0
}

// serverConn is a session on one server: the connection, and what seqgate knows of the
// session's state there, so that another connection can take its place. What it is made of, each part knowing those before
// it: backend.Session, serverState; serverConn itself is about the session's statements.
type serverConn struct {
	serverState

	stmts             map[uint32]*statement
	lastStmt          uint32                // the statement that the client prepared last, 0 when that failed
	prepared          bool                  // there was one that did not
	localID           uint32                // of the latest statement that seqgate answers by itself
	named             map[string]*namedStmt // those of SQL's PREPARE, by name
	clientStatementID uint32                // of a shard's: the id that the client is told of the statement being prepared; 0 for none
}
