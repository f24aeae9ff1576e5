package backend

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// State is what seqgate knows of a backend session. It is asked of the
// server when a statement needs it, and forgotten when one may have changed it.
type State struct {
	EnvironmentKnown bool
	Mode             parser.Mode
	Database         string
	DatabaseKnown    bool // also when the rest is not; then as the client spelled it
	Waits            bool // net_write_timeout is seqgate's own (raiseTimeouts of package proxy)

	LastIDKnown bool
	LastID      uint64 // what LAST_INSERT_ID() has to give
	// Restore says that the backend's LAST_INSERT_ID() is not LastID: it has to
	// be set before a statement that may look.
	Restore bool

	IDs IDSettings
}

// IDSettings are the session's variables by which a server makes ids itself.
type IDSettings struct {
	// Unknown says that the session has to be asked, as both may have been set. It does
	// not come without EnvironmentKnown being false.
	Unknown   bool
	Increment int64 // auto_increment_increment; 0: as the server's global one
	Forced    int64 // insert_id, which the next statement takes that makes an id; 0 for none
}

// readIDSettings reads what the server answered.
func readIDSettings(increment, forced string) (ids IDSettings, err error) {
	if ids.Increment, err = strconv.ParseInt(increment, 10, 64); err != nil {
		return ids, fmt.Errorf("read @@auto_increment_increment: %w", err)
	}
	n, err := strconv.ParseUint(forced, 10, 64)
	if err != nil {
		return ids, fmt.Errorf("read @@insert_id: %w", err)
	}
	ids.Forced = int64(min(n, math.MaxInt64)) // no column holds more
	return ids, nil
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

// Know asks the backend for the settings that say how SQL text reads.
func (c *Session) Know() error {
	if c.State.EnvironmentKnown {
		return nil
	}
	return c.Ask()
}

// KnowLastID asks for LAST_INSERT_ID() too: a filled statement may have to set
// it back.
func (c *Session) KnowLastID() error {
	if c.State.EnvironmentKnown && c.State.LastIDKnown {
		return nil
	}
	return c.Ask()
}

// Ask asks the backend for all that is not known of the session.
func (c *Session) Ask() error {
	row, err := c.QueryRow(askSession, 6)
	if err != nil {
		return err
	}
	if c.State.IDs, err = readIDSettings(row[4], row[5]); err != nil {
		return err
	}
	c.State.Mode = parser.NewMode(row[0], row[1], c.MariaDB)
	c.State.Database = row[2]
	c.State.EnvironmentKnown, c.State.DatabaseKnown = true, true
	if !c.State.LastIDKnown {
		id, err := strconv.ParseUint(row[3], 10, 64)
		if err != nil {
			return fmt.Errorf("read LAST_INSERT_ID(): %w", err)
		}
		c.State.LastID, c.State.LastIDKnown, c.State.Restore = id, true, false
	}
	return nil
}

// SetLastID notes what LAST_INSERT_ID() has to give from now on; actual is what
// the backend's gives.
func (c *Session) SetLastID(want, actual uint64) {
	c.State.LastID, c.State.LastIDKnown, c.State.Restore = want, true, want != actual
}

// RestoreLastID sets the backend's LAST_INSERT_ID() before a statement that may
// look at it.
func (c *Session) RestoreLastID() error { return c.RestoreBy("DO") }

// RestoreBy restores it by DO, behind which ROW_COUNT() is 0, or by SELECT, behind which it is -1.
func (c *Session) RestoreBy(verb string) error {
	if !c.State.Restore {
		return nil
	}
	if err := c.Quietly(fmt.Sprintf("%s LAST_INSERT_ID(%d)", verb, c.State.LastID)); err != nil {
		return err
	}
	c.State.Restore = false
	return nil
}

func (c *Session) ForgetIDSettings() {
	c.State.IDs, c.State.EnvironmentKnown = IDSettings{Unknown: true}, false
}

// Readable returns the mode in which a text reads. It asks for it where that is not
// the same in all.
func (c *Session) Readable(sql []byte) (parser.Mode, error) {
	if !c.State.EnvironmentKnown && parser.Plain(sql) {
		return parser.Mode{MariaDB: c.MariaDB}, nil
	}
	err := c.Know()
	return c.State.Mode, err
}

// SetDatabase notes a new default database, by the client's word for it. How the
// server spells it is asked when it matters.
func (c *Session) SetDatabase(name string) {
	c.State.EnvironmentKnown = false
	c.State.Database, c.State.DatabaseKnown = name, IsPlainName(name)
}

// ChangeDatabase changes the default database of a connection. The server's refusal is
// a *wire.ServerError.
func (c *Session) ChangeDatabase(name string) error {
	if err := c.Send(append([]byte{mysql.COM_INIT_DB}, name...)); err != nil {
		return err
	}
	if err := c.Drop(wire.ShapeSingle); err != nil {
		return err
	}
	c.SetDatabase(name)
	return nil
}

// DatabaseCharset asks for the character set of files that LOAD DATA gives none
// for.
func (c *Session) DatabaseCharset() (string, error) {
	row, err := c.QueryRow("SELECT CAST(CONVERT(@@character_set_database USING utf8mb4) AS BINARY) LIMIT 1", 1)
	if err != nil {
		return "", err
	}
	return row[0], nil
}

// IsPlainName reports whether a name that the client wrote is known without its
// character set.
func IsPlainName(name string) bool { return parser.Plain([]byte(name)) }
