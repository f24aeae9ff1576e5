package proxy

import (
	"errors"
	"net"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/wire"
)

// effectOf is that of a statement in this session: only MariaDB has a USE in
// routines and prepared statements.
func (c *serverState) effectOf(kind parser.Kind, sql []byte) plan.Effect {
	e := plan.EffectOf(kind, sql)
	if !c.MariaDB && (kind == parser.Call || kind == parser.Execute) {
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
		c.hasSessionState = true
	}
	c.keeps = c.keeps || e&plan.KeepsSomething != 0
	if e&plan.MayChangeLastID != 0 {
		c.State.LastIDKnown = false
	}
	if e&plan.MayChangeSettings != 0 {
		c.State.EnvironmentKnown = false
	}
	if e&plan.MayChangeIDs != 0 || c.State.IDs.Forced != 0 {
		c.ForgetIDSettings()
	}
	if e&plan.MayChangeDatabase != 0 {
		c.State.EnvironmentKnown, c.State.DatabaseKnown = false, false
	}
	if e&plan.ChangesSchema != 0 {
		c.srv.catalog.Forget()
	}
	if e&plan.MakesTemporary != 0 || e&plan.ChangesSchema != 0 && c.temporary != nil {
		c.noteTemporary()
	}
}

// learnDatabase reports whether the default database is known. Where it is not,
// the server's list of connections tells, where the session's is seen over seqgate's own. The port makes sure that it is the same server's.
func (c *serverState) learnDatabase() bool {
	if c.State.DatabaseKnown {
		return true
	}
	_, port, err := net.SplitHostPort(c.Wire.LocalAddr().String())
	if err != nil {
		return false // a Unix socket
	}
	db, err := c.srv.asking(c.keyspace, c.account.Load())
	if err != nil {
		return false
	}
	thread := c.ThreadID.Load()
	found, err := threads.List(c.ctx, db, thread)
	own, ok := found[thread]
	if err != nil || !ok || !strings.HasSuffix(own.Host, ":"+port) {
		return false
	}
	c.State.Database, c.State.DatabaseKnown = own.Database, true
	return true
}

// noteTemporary has the session ask, from now on, which of its tables are
// temporary. Any further DDL makes it ask anew.
func (c *serverState) noteTemporary() { c.temporary = make(map[string]bool) }

// isPermanent reports whether it is known that no temporary table hides a table.
func (c *serverState) isPermanent(schema, table string) bool {
	return c.temporary[catalog.Quote(schema)+"."+catalog.Quote(table)]
}

// isTemporary reports whether the session's own temporary table hides a table.
// That it does is asked each time: a stored function or a trigger may drop it
// within any statement. One that such a statement makes gets ids like the table
// that it hides.
func (c *serverState) isTemporary(schema, table string) (bool, error) {
	if c.temporary == nil {
		return false, nil
	}
	if c.isPermanent(schema, table) {
		return false, nil
	}
	name := catalog.Quote(schema) + "." + catalog.Quote(table)
	row, err := c.QueryRow("SHOW CREATE TABLE "+name, 2)
	var refused *wire.ServerError
	if err != nil && !errors.As(err, &refused) {
		return false, err
	}
	hidden := err == nil && strings.HasPrefix(row[1], "CREATE TEMPORARY")
	c.temporary[name] = !hidden
	return hidden, nil
}

// outOfTransaction notes that the client's transaction is over on a connection.
func (c *serverState) outOfTransaction() {
	c.Begun, c.xid = false, ""
	c.Answer.Status &^= mysql.SERVER_STATUS_IN_TRANS
}
