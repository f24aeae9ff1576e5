package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// sessionState is what seqgate knows of a backend session. It is asked of the
// server when a statement needs it, and forgotten when one may have changed it.
type sessionState struct {
	environmentKnown bool
	mode             parser.Mode
	database         string
	databaseKnown    bool // also when the rest is not; then as the client spelled it
	waits            bool // net_write_timeout is seqgate's own (raiseTimeouts)

	lastIDKnown bool
	lastID      uint64 // what LAST_INSERT_ID() has to give
	// restore says that the backend's LAST_INSERT_ID() is not lastID: it has to
	// be set before a statement that may look.
	restore bool

	ids idSettings
}

// beginAnew forgets all that was known of the session, but for state.
func (s *session) beginAnew(state sessionState) {
	s.values = lastValues{}
	s.stmts, s.named, s.temporary, s.lastStmt = nil, nil, nil, 0
	s.prepared, s.settled, s.keeps, s.lastIDLost = false, false, false, false
	s.state = state
}

// know asks the backend for the settings that say how SQL text reads.
func (c *serverState) know() error {
	if c.state.environmentKnown {
		return nil
	}
	return c.ask()
}

// knowLastID asks for LAST_INSERT_ID() too: a filled statement may have to set
// it back.
func (c *serverState) knowLastID() error {
	if c.state.environmentKnown && c.state.lastIDKnown {
		return nil
	}
	return c.ask()
}

// askSession reads each fact as bytes of UTF-8, whatever character set the client
// wants its results in. CONCAT makes text of what is none.
var askSession = func() string {
	facts := []string{"@@sql_mode", "@@character_set_client", "DATABASE()", "LAST_INSERT_ID()", "@@auto_increment_increment", "@@insert_id"}
	for i, fact := range facts {
		facts[i] = "CAST(CONVERT(CONCAT(" + fact + ") USING utf8mb4) AS BINARY)"
	}
	return "SELECT " + strings.Join(facts, ", ") + " LIMIT 1" // whatever sql_select_limit says
}()

// ask asks the backend for all that is not known of the session.
func (c *serverState) ask() error {
	row, err := c.queryRow(askSession, 6)
	if err != nil {
		return err
	}
	if c.state.ids, err = readIDSettings(row[4], row[5]); err != nil {
		return err
	}
	c.state.mode = parser.NewMode(row[0], row[1], c.mariaDB)
	c.state.database = row[2]
	c.state.environmentKnown, c.state.databaseKnown = true, true
	if !c.state.lastIDKnown {
		id, err := strconv.ParseUint(row[3], 10, 64)
		if err != nil {
			return fmt.Errorf("read LAST_INSERT_ID(): %w", err)
		}
		c.state.lastID, c.state.lastIDKnown, c.state.restore = id, true, false
	}
	return nil
}

// setLastID notes what LAST_INSERT_ID() has to give from now on; actual is what
// the backend's gives.
func (c *serverState) setLastID(want, actual uint64) {
	c.state.lastID, c.state.lastIDKnown, c.state.restore = want, true, want != actual
}

// restoreLastID sets the backend's LAST_INSERT_ID() before a statement that may
// look at it.
func (c *serverState) restoreLastID() error { return c.restoreBy("DO") }

// restoreBy restores it by DO, behind which ROW_COUNT() is 0, or by SELECT, behind which it is -1.
func (c *serverState) restoreBy(verb string) error {
	if !c.state.restore {
		return nil
	}
	if err := c.quietly(fmt.Sprintf("%s LAST_INSERT_ID(%d)", verb, c.state.lastID)); err != nil {
		return err
	}
	c.state.restore = false
	return nil
}

// effectOf is that of a statement in this session: only MariaDB has a USE in
// routines and prepared statements.
func (c *serverState) effectOf(kind parser.Kind, sql []byte) plan.Effect {
	e := plan.EffectOf(kind, sql)
	if !c.mariaDB && (kind == parser.Call || kind == parser.Execute) {
		e &^= plan.MayChangeDatabase
	}
	return e
}

// after forgets what a statement with this effect may have changed.
func (c *serverState) after(e plan.Effect) {
	if c.unfilled != nil {
		c.checkUnfilled()
	}
	if e&(plan.MayChangeSettings|plan.MakesTemporary|plan.ChangesVariables) != 0 {
		c.settled = true
	}
	c.keeps = c.keeps || e&plan.KeepsSomething != 0
	if e&plan.MayChangeLastID != 0 {
		c.state.lastIDKnown = false
	}
	if e&plan.MayChangeSettings != 0 {
		c.state.environmentKnown = false
	}
	if e&plan.MayChangeIDs != 0 || c.state.ids.forced != 0 {
		c.forgetIDSettings()
	}
	if e&plan.MayChangeDatabase != 0 {
		c.state.environmentKnown, c.state.databaseKnown = false, false
	}
	if e&plan.ChangesSchema != 0 {
		c.srv.catalog.Forget()
	}
	if e&plan.MakesTemporary != 0 || e&plan.ChangesSchema != 0 && c.temporary != nil {
		c.noteTemporary()
	}
}

// textRow gives the first columns of a row of the text protocol; nil when it has
// fewer.
func textRow(b []byte, columns int) []string {
	row := make([]string, 0, columns)
	for len(b) > 0 {
		n, null, size := wire.LengthEncoded(b)
		if size == 0 || uint64(len(b)-size) < n {
			return nil
		}
		b = b[size:]
		if null {
			n = 0
		}
		row = append(row, string(b[:n]))
		b = b[n:]
	}
	if len(row) < columns {
		return nil
	}
	return row[:columns]
}

func (c *serverState) forgetIDSettings() {
	c.state.ids, c.state.environmentKnown = idSettings{unknown: true}, false
}

// readable gives the mode in which a text reads. It asks for it where that is not
// the same in all.
func (c *serverState) readable(sql []byte) (parser.Mode, error) {
	if !c.state.environmentKnown && parser.Plain(sql) {
		return parser.Mode{MariaDB: c.mariaDB}, nil
	}
	err := c.know()
	return c.state.mode, err
}

// learnDatabase reports whether the default database is known. Where it is not,
// the server's list of connections tells, where the session's is seen over seqgate's own. The port makes sure that it is the same server's.
func (c *serverState) learnDatabase() bool {
	if c.state.databaseKnown {
		return true
	}
	_, port, err := net.SplitHostPort(c.back.LocalAddr().String())
	if err != nil {
		return false // a Unix socket
	}
	db, err := c.srv.asking(c.keyspace, c.account.Load())
	if err != nil {
		return false
	}
	thread := c.threadID.Load()
	found, err := processesOf(c.ctx, db, thread)
	own, ok := found[thread]
	if err != nil || !ok || !strings.HasSuffix(own.host, ":"+port) {
		return false
	}
	c.state.database, c.state.databaseKnown = own.database, true
	return true
}

// setDatabase notes a new default database, by the client's word for it. How the
// server spells it is asked when it matters.
func (c *serverState) setDatabase(name string) {
	c.state.environmentKnown = false
	c.state.database, c.state.databaseKnown = name, isPlainName(name)
}

// noteTemporary has the session ask, from now on, which of its tables are
// temporary. Any further DDL makes it ask anew.
func (c *serverState) noteTemporary() { c.temporary = make(map[string]bool) }

// isTemporary reports whether the session's own temporary table hides a table.
// That it does is asked each time: a stored function or a trigger may drop it
// within any statement. One that such a statement makes gets ids like the table
// that it hides.
func (c *serverState) isTemporary(schema, table string) (bool, error) {
	if c.temporary == nil {
		return false, nil
	}
	name := catalog.Quote(schema) + "." + catalog.Quote(table)
	if c.temporary[name] {
		return false, nil
	}
	row, err := c.queryRow("SHOW CREATE TABLE "+name, 2)
	var refused *wire.ServerError
	if err != nil && !errors.As(err, &refused) {
		return false, err
	}
	hidden := err == nil && strings.HasPrefix(row[1], "CREATE TEMPORARY")
	c.temporary[name] = !hidden
	return hidden, nil
}

// hidesDatabase reports whether a text writes to a table and may run a USE, also
// one that it makes of literals.
func (c *serverState) hidesDatabase(sql []byte) (bool, error) {
	if !mayNeedSeqgate(sql) || !parser.ContainsWord(sql, "use") && !parser.MayPrepare(sql) {
		return false, nil
	}
	if err := c.know(); err != nil {
		return false, err
	}
	literals, ok := parser.Literals(sql, c.state.mode)
	literals = bytes.ToLower(literals) // joined: a word's ends cannot be told
	uses := parser.ContainsWord(sql, "use") || bytes.Contains(literals, []byte("use"))
	tables, read := parser.Writes(nil, sql, c.state.mode)
	writes := !read || len(tables) > 0 || bytes.Contains(literals, []byte("insert")) ||
		bytes.Contains(literals, []byte("replace")) || bytes.Contains(literals, []byte("load"))
	return !ok || uses && writes, nil
}

// databaseCharset asks for the character set of files that LOAD DATA gives none
// for.
func (c *serverState) databaseCharset() (string, error) {
	row, err := c.queryRow("SELECT CAST(CONVERT(@@character_set_database USING utf8mb4) AS BINARY) LIMIT 1", 1)
	if err != nil {
		return "", err
	}
	return row[0], nil
}

// outOfTransaction notes that the client's transaction is over on a connection.
func (c *serverState) outOfTransaction() {
	c.begun, c.xid = false, ""
	c.answer.Status &^= mysql.SERVER_STATUS_IN_TRANS
}

// changeDatabase changes the default database of a connection. The server's refusal is
// a *wire.ServerError.
func (c *serverState) changeDatabase(name string) error {
	if err := c.send(append([]byte{mysql.COM_INIT_DB}, name...)); err != nil {
		return err
	}
	if err := c.drop(wire.ShapeSingle); err != nil {
		return err
	}
	c.setDatabase(name)
	return nil
}
