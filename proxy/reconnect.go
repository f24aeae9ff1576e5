package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
)

// With a list of users it is seqgate that logs in at the backend, so it can do so
// again: a session whose backend connection ended goes on with another one, when
// it has nothing to lose that its client would rely on without being told.

// nothingToLose reports whether the session is as one that has just begun, but for
// its default database and LAST_INSERT_ID(), which are kept. A client that is told
// of the loss, by the error of a statement, also loses what a SELECT has made: a
// variable of its own, a lock, a LAST_INSERT_ID() that seqgate does not know.
func (s *session) nothingToLose(told bool) bool {
	if s.router != nil {
		return !s.router.inTransaction() && !s.killed.Load() && (told || s.router.restorable())
	}
	const autocommit, transaction = mysql.SERVER_STATUS_AUTOCOMMIT, mysql.SERVER_STATUS_IN_TRANS
	return s.pool() != nil && !s.hasSessionState && !s.prepared && s.State.DatabaseKnown && !s.killed.Load() &&
		s.Answer.Status&(autocommit|transaction) == autocommit && (told || !s.keeps && s.State.LastIDKnown)
}

// noteKnown notes before a statement whether LAST_INSERT_ID() is known. One that is cut
// by the loss of its server leaves what it was before, as one that fails.
func (s *session) noteKnown() {
	owner := s.serverConn
	if s.router != nil {
		owner = s.router.lastIDConn().serverConn
	}
	s.knewLastID = owner.State.LastIDKnown
}

// errLeftLost answers who asks for what the statement before has left (warnings, counts) on a connection that was lost
// since, unseen: another one would tell of none.
func errLeftLost() error {
	return &mysql.MyError{Code: errLost, State: backend.StateLink,
		Message: "Lost connection to MySQL server: what the statement before has left (warnings, ROW_COUNT(), FOUND_ROWS()) is gone with it"}
}

// loseLastID notes that LAST_INSERT_ID() has gone with a connection, if it was not known. Until a statement sets
// another one, whoever looks at it gets an error.
func (s *session) loseLastID(owner *serverConn) {
	if !owner.State.LastIDKnown && !s.knewLastID {
		s.lastIDLost, owner.State.LastID = true, 0
	}
	owner.State.LastIDKnown = true
}

// errLastIDLost ends a session that looks at what is lost, as the loss would have without seqgate.
var errLastIDLost = &backend.LostError{Err: errors.New("LAST_INSERT_ID() went with a connection that the session had before")}

// refuseLostID refuses a text that looks at a lost LAST_INSERT_ID().
func (s *session) refuseLostID(sql []byte) error {
	if !s.lastIDLost || !parser.MentionsLastInsertID(sql) {
		return nil
	}
	var id uint64
	var err error
	if s.router != nil {
		id, err = s.router.knownLastID(s.router.lastIDConn())
	} else {
		err = s.KnowLastID()
		id = s.State.LastID
	}
	if err == nil && id == 0 {
		err = errLastIDLost
	}
	s.lastIDLost = err != nil
	return err
}

// reconnect has another backend connection take the place of one that was lost. LAST_INSERT_ID() is set on
// it at once: it comes with a statement that was looked at before.
func (s *session) reconnect(c *serverConn) error {
	r := s.router
	if r != nil && (c.HasTransaction() || r.settings.IsAhead(&c.Session)) {
		return errShardLost // another one has nothing of it
	}
	login, err := c.loginAt(c.keyspace, s.user, c.State.Database)
	if err != nil {
		return err
	}
	ctx, cancel := s.connecting()
	defer cancel()
	back, err := s.srv.connect(ctx, c.keyspace, login)
	if err != nil {
		return err
	}
	const autocommit = uint16(mysql.SERVER_STATUS_AUTOCOMMIT)
	former := c.Answer.Status & autocommit
	if c.adopt(back, login); r != nil && c == s.serverConn && r.settings.Has("autocommit") {
		c.Answer.Status = c.Answer.Status&^autocommit | former // as it will be set there, before anything runs
	}
	id := c.State.LastID
	c.temporary = nil
	c.State = backend.State{Database: login.Database, DatabaseKnown: true, LastID: id, LastIDKnown: true, Restore: id != 0}
	s.log.Info("session goes on with another connection to its server")
	return c.RestoreLastID()
}

// lacking refuses a client whose capabilities are those of another server.
func lacking(keyspace, other string, flags uint64) error {
	return fmt.Errorf("the server of keyspace '%s' lacks capabilities (%#x) that the one of '%s' has; let clients connect to a seqgate for each",
		keyspace, flags, other)
}

// errCommandCut ends a session whose backend went away while a command was passed
// on piece by piece: what is left of it would be taken for the next one.
var errCommandCut = errors.New("the server went away in the middle of a command")
