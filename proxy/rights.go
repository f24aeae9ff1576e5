package proxy

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// Rights is what a listed user may do through seqgate; what the keyspace's account may do at the server bounds it too.
type Rights string

// Each includes those before it. A user for whom nothing is said may do everything but ALTER VSCHEMA, as the
// keyspace's account.
const (
	RightsUnset Rights = ""
	RightsRead  Rights = "read"
	RightsWrite Rights = "write"
	RightsAdmin Rights = "admin"
)

// rightsOf are by what a statement needs.
var rightsOf = map[parser.Right]Rights{parser.RightRead: RightsRead, parser.RightWrite: RightsWrite, parser.RightAdmin: RightsAdmin}

// allow reports whether these rights are enough for what needs that one.
func (r Rights) allow(needed parser.Right) bool {
	switch r {
	case RightsUnset, RightsAdmin:
		return true
	case RightsWrite:
		return needed <= parser.RightWrite
	}
	return needed == parser.RightRead
}

// sessionRights are those of a session's user, and what the statements that it has prepared need. What was prepared while
// its user might do everything was not judged.
type sessionRights struct {
	of  *Config // by which they were looked up; nil: not yet
	now Rights

	prepared map[uint32]parser.Right // by the client's id
	named    parser.Right            // the most that one of SQL's PREPARE needs; RightAdmin when some were not judged
}

// restricted reports whether the client's statements have to be judged.
func (s *session) restricted() bool { return !s.rights().allow(parser.RightAdmin) }

// rights gives those of the session's user, which are looked up when the settings have changed. With clients' own
// accounts, the server judges.
func (s *session) rights() Rights {
	settings := s.srv.settings()
	if s.granted.of == settings {
		return s.granted.now
	}
	s.granted.of, s.granted.now = settings, rightsIn(settings.Users, s.user)
	if s.granted.now.allow(parser.RightAdmin) {
		s.granted.prepared, s.granted.named = nil, parser.RightAdmin
	}
	return s.granted.now
}

// rightsIn gives the rights of the user of that name.
func rightsIn(users []User, name string) Rights {
	if users == nil {
		return RightsUnset
	}
	for i := range users {
		if users[i].Name == name {
			return users[i].Rights
		}
	}
	return RightsRead // not listed any more
}

// permit judges a text that the client sends to be executed.
func (s *session) permit(sql []byte) error {
	if !s.restricted() {
		return nil
	}
	modes := parser.Readings(sql, s.mariaDB)
	if modes == nil { // it reads as the session's character set has it
		m, err := s.readingMode()
		if err != nil {
			return err
		}
		modes = []parser.Mode{m}
	}
	needs := parser.Judge(sql, modes, parser.ServerVersion(s.conn.Version))
	if needs.Executes && needs.Right < s.granted.named {
		if !s.granted.now.allow(s.granted.named) {
			return s.deniedAnew()
		}
		needs.Right = s.granted.named
	}
	if needs.Right == parser.RightWrite && s.killsOwn(sql) {
		return nil
	}
	right, err := s.rightFor(needs)
	if err == nil {
		err = s.denied(s.granted.now, right)
	}
	if err == nil && needs.Prepares {
		s.granted.named = max(s.granted.named, right)
	}
	return err
}

// permitPrepare judges a text that the client prepares by its driver, and gives what its executions need. The servers read
// it again when a table has changed, in the character set of then.
func (s *session) permitPrepare(sql []byte) (right parser.Right, err error) {
	if !s.restricted() {
		return parser.RightAdmin, nil
	}
	needs := parser.Judge(sql, parser.EveryReading(sql, s.mariaDB), parser.ServerVersion(s.conn.Version))
	if needs.Executes || needs.Prepares {
		needs.Right = parser.RightAdmin // neither server prepares these, nor does anybody need it
	}
	if right, err = s.rightFor(needs); err == nil {
		err = s.denied(s.granted.now, right)
	}
	return right, err
}

// readingMode gives how SQL text reads in the client's session.
func (s *session) readingMode() (parser.Mode, error) {
	if s.router != nil {
		return s.router.mode()
	}
	err := s.know()
	return s.state.mode, err
}

// denied gives MySQL's error 1227, unless the rights are enough.
func (s *session) denied(rights Rights, needed parser.Right) error {
	if rights.allow(needed) {
		return nil
	}
	return mysql.NewError(mysql.ER_SPECIFIC_ACCESS_DENIED_ERROR, fmt.Sprintf(
		"Access denied; you need (at least one of) the %s privilege(s) of seqgate for this operation; user '%s' has %s: ask for rights: %[1]s in seqgate's configuration",
		rightsOf[needed], s.user, rights))
}

// deniedAnew is the error for what was prepared when the user had other rights.
func (s *session) deniedAnew() error {
	return mysql.NewError(mysql.ER_SPECIFIC_ACCESS_DENIED_ERROR, fmt.Sprintf(
		"Access denied; the rights of user '%s' have changed to %s since statements were prepared in this session: prepare them again, in a new connection",
		s.user, s.granted.now))
}
