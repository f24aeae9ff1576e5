package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
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
func (c *serverConn) know() error {
	if c.state.environmentKnown {
		return nil
	}
	return c.ask()
}

// knowLastID asks for LAST_INSERT_ID() too: a filled statement may have to set
// it back.
func (c *serverConn) knowLastID() error {
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
func (c *serverConn) ask() error {
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
func (c *serverConn) setLastID(want, actual uint64) {
	c.state.lastID, c.state.lastIDKnown, c.state.restore = want, true, want != actual
}

// restoreLastID sets the backend's LAST_INSERT_ID() before a statement that may
// look at it.
func (c *serverConn) restoreLastID() error { return c.restoreBy("DO") }

// restoreBy restores it by DO, behind which ROW_COUNT() is 0, or by SELECT, behind which it is -1.
func (c *serverConn) restoreBy(verb string) error {
	if !c.state.restore {
		return nil
	}
	if err := c.quietly(fmt.Sprintf("%s LAST_INSERT_ID(%d)", verb, c.state.lastID)); err != nil {
		return err
	}
	c.state.restore = false
	return nil
}

// noAttributes stands before the text of a COM_QUERY that has no query
// attributes, where the server expects some.
func (c *serverConn) noAttributes() string {
	if c.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		return "\x00\x01"
	}
	return ""
}

// effect is what a statement may do to the session's state.
type effect uint16

const (
	mayLook           effect = 1 << iota // at LAST_INSERT_ID()
	mayChangeLastID                      // of the session
	mayChangeSettings                    // sql_mode, character set
	mayChangeDatabase                    // the default one
	changesSchema                        // of tables or sequences
	makesTemporary                       // tables, perhaps
	changesVariables                     // of the session, any
	keepsSomething                       // a variable of the user's, or a lock
	mayChangeIDs                         // insert_id, auto_increment_increment
	readsRowCount                        // as the statement before has left it
)

// effectOf judges a statement by its first keywords and, where those leave it
// open, by words in its text. What it does not know may do anything.
func effectOf(kind parser.Kind, sql []byte) effect {
	switch kind {
	case parser.Select, parser.Update, parser.Delete, parser.With, parser.Show:
		e := keptBy(sql)
		if parser.MentionsLastInsertID(sql) {
			e |= mayLook
			if setsLastID(sql) {
				e |= mayChangeLastID
			}
			if parser.Mentions(sql, "row_count") && !parser.Mentions(sql, "found_rows") {
				e |= readsRowCount
			}
		}
		return e
	case parser.Begin, parser.Commit, parser.Rollback:
		return 0
	case parser.Insert, parser.Replace, parser.Load:
		return mayLook | mayChangeLastID | keptByInsert(kind, sql)
	case parser.Use:
		return mayChangeDatabase
	case parser.Set:
		return effectOfSet(sql)
	case parser.DDL:
		e := unknownEffect(sql)&^mayChangeIDs | changesSchema
		if mayMakeTemporary(sql) {
			e |= makesTemporary
		}
		return e
	case parser.Call, parser.Execute, parser.Carrier:
		return unknownEffect(sql) | makesTemporary
	}
	if kind == parser.Other && isDiagnostics(sql) {
		return changesVariables
	}
	return mayLook | mayChangeLastID | mayChangeSettings | mayChangeIDs
}

// keptBy tells whether a statement may set a variable of the user's or take a
// lock.
func keptBy(sql []byte) effect {
	for rest := sql; ; {
		i := bytes.IndexByte(rest, '@')
		switch {
		case i < 0 && parser.Mentions(sql, "get_lock"), i >= 0 && !bytes.HasPrefix(rest[i:], []byte("@@")):
			return keepsSomething
		case i < 0:
			return 0
		}
		rest = rest[i+2:] // a system variable
	}
}

// keptByInsert is keptBy for a statement whose values may well have an @ in them: there only
// := sets a variable, and in LOAD DATA the list of columns.
func keptByInsert(kind parser.Kind, sql []byte) effect {
	if kind != parser.Load && !bytes.Contains(sql, []byte(":=")) && !parser.Mentions(sql, "get_lock") {
		return 0
	}
	return keptBy(sql)
}

// effectOf is that of a statement in this session: only MariaDB has a USE in
// routines and prepared statements.
func (c *serverConn) effectOf(kind parser.Kind, sql []byte) effect {
	e := effectOf(kind, sql)
	if !c.mariaDB && (kind == parser.Call || kind == parser.Execute) {
		e &^= mayChangeDatabase
	}
	return e
}

// unknownEffect is that of a statement that seqgate knows nothing of. The default
// database changes by the words for it alone, and on MariaDB by what a routine, a
// prepared statement or a compound one does, which has an END.
func unknownEffect(sql []byte) effect {
	const e = mayLook | mayChangeLastID | mayChangeSettings | mayChangeIDs
	if mentionsAny(sql, "use", "database", "schema", "call", "execute", "end") {
		return e | mayChangeDatabase
	}
	return e
}

// mentionsAny reports whether one of these words stands in a text.
func mentionsAny(sql []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return parser.Mentions(sql, word) })
}

func effectOfSet(sql []byte) effect {
	e := changesVariables
	if parser.MentionsLastInsertID(sql) {
		e |= mayLook | mayChangeLastID
	}
	if mentionsAny(sql, "sql_mode", "names", "character", "charset", "character_set_client") {
		e |= mayChangeSettings
	}
	if mentionsAny(sql, "insert_id", "auto_increment_increment") {
		e |= mayChangeSettings | mayChangeIDs
	}
	return e
}

// before prepares the backend session for a statement with this effect.
func (f *filler) before(e effect) error {
	f.owner.noteKnown()
	switch {
	case e&mayLook == 0 || !f.state.restore:
		return nil
	case e&readsRowCount != 0: // prepared; in a text withLeft has put it in its place
		row, err := f.queryRow("SELECT "+bytesOf("ROW_COUNT()")+" LIMIT 1", 1)
		if err != nil {
			return err
		}
		if row[0] == "-1" {
			return f.restoreBy("SELECT")
		}
	}
	return f.restoreLastID()
}

// after forgets what a statement with this effect may have changed.
func (c *serverConn) after(e effect) {
	if c.unfilled != nil {
		c.checkUnfilled()
	}
	if e&(mayChangeSettings|makesTemporary|changesVariables) != 0 {
		c.settled = true
	}
	c.keeps = c.keeps || e&keepsSomething != 0
	if e&mayChangeLastID != 0 {
		c.state.lastIDKnown = false
	}
	if e&mayChangeSettings != 0 {
		c.state.environmentKnown = false
	}
	if e&mayChangeIDs != 0 || c.state.ids.forced != 0 {
		c.forgetIDSettings()
	}
	if e&mayChangeDatabase != 0 {
		c.state.environmentKnown, c.state.databaseKnown = false, false
	}
	if e&changesSchema != 0 {
		c.srv.catalog.Forget()
	}
	if e&makesTemporary != 0 || e&changesSchema != 0 && c.temporary != nil {
		c.noteTemporary()
	}
}

// quietly runs a statement of seqgate's own in the client's backend session. An
// error of the server's is a *wire.ServerError.
func (c *serverConn) quietly(sql string) error {
	if err := c.sendText(sql); err != nil {
		return err
	}
	return c.drop(wire.ShapeResults)
}

// queryRow runs a statement of seqgate's own in the client's backend session
// and gives its only row; NULL is the empty string.
func (c *serverConn) queryRow(sql string, columns int) ([]string, error) {
	if err := c.send(append([]byte{mysql.COM_QUERY}, c.noAttributes()+sql...)); err != nil {
		return nil, err
	}
	rows := c.answer.Rows
	payload, err := c.readRow()
	c.answer.Rows = rows // this one was not for the client
	if err != nil {
		return nil, err
	}
	row := textRow(payload, columns)
	if row == nil {
		return nil, fmt.Errorf("%s: the server's answer has no row of %d columns", sql, columns)
	}
	return row, nil
}

// readRow reads the answer to a query of seqgate's own, and gives its last row as
// it came; nil when there is none.
func (c *serverConn) readRow() (row []byte, err error) {
	err = c.readOwn(nil, func(payload []byte) error {
		row = bytes.Clone(payload)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return row, nil
}

// readOwn reads the answer to a query of seqgate's own to its end: column, if not nil,
// gets each definition, and row each row. An error of the server's is a *wire.ServerError,
// and leaves the session's status as it was.
func (c *serverConn) readOwn(column, row func(payload []byte) error) error {
	status, rows := c.answer.Status, c.answer.Rows
	defer func() { c.answer.Rows = rows }()
	c.startAnswer(wire.ShapeResults)
	var failed error
	for !c.answer.Done() {
		phase := c.answer.Phase
		payload, size, err := c.follow()
		if err != nil {
			return &backendError{err}
		}
		switch {
		case c.answer.Failed:
			failed = &wire.ServerError{Packet: bytes.Clone(payload)}
		case phase == wire.PhaseColumns && column != nil:
			err = column(payload)
		case phase == wire.PhaseRows && !c.answer.Done():
			err = row(payload)
		}
		if err != nil {
			return err
		}
		c.back.Skip(size)
	}
	if failed != nil {
		c.answer.Status = status
	}
	return failed
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
