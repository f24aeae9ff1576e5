package proxy

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// permitCommand judges a command that has no text, and takes its bytes when it is denied.
func (s *session) permitCommand(code byte) error {
	if !s.restricted() {
		return nil
	}
	switch code {
	case mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_CLOSE:
		return s.permitStatement(code)
	case mysql.COM_QUIT, mysql.COM_QUERY, mysql.COM_STMT_PREPARE, mysql.COM_STMT_SEND_LONG_DATA,
		mysql.COM_STMT_RESET, mysql.COM_STMT_FETCH, mysql.COM_INIT_DB, mysql.COM_FIELD_LIST, mysql.COM_PING,
		mysql.COM_STATISTICS, mysql.COM_PROCESS_INFO, mysql.COM_PROCESS_KILL, mysql.COM_SET_OPTION, comResetConnection, mysql.COM_CHANGE_USER:
		return nil
	}
	if _, err := s.takeCommand(); err != nil {
		return err
	}
	return s.denied(s.granted.now, parser.RightAdmin)
}

// permitStatement judges the execution of a prepared statement by what it was found to need, and forgets that with the
// statement. A command without an id is refused: MariaDB may read one that is not there.
func (s *session) permitStatement(code byte) error {
	length, _, err := s.front.header()
	if err != nil {
		return &frontError{err}
	}
	const head = 5 // the command and the id
	if err := s.front.need(headerSize + min(length, head)); err != nil {
		return &frontError{err}
	}
	closes := code == mysql.COM_STMT_CLOSE
	var denied error
	if length < head {
		denied = unlessSilent(closes, malformedPacket())
	} else {
		id := s.statementID(binary.LittleEndian.Uint32(s.front.unread()[headerSize+1:]))
		right, known := s.granted.prepared[id]
		switch {
		case closes:
			delete(s.granted.prepared, id)
		case known && !s.granted.now.allow(right), !known && s.granted.named == parser.RightAdmin:
			denied = s.deniedAnew()
		case !known:
			denied = s.unknownStatement(id, code) // or one that seqgate has prepared beside it
		}
	}
	if denied == nil {
		return nil
	}
	_, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	s.front.skip(size)
	return denied
}

// statementID gives the id that a client's stands for.
func (s *session) statementID(id uint32) uint32 {
	switch {
	case id != lastPrepared || !s.mariaDB:
		return id
	case s.router != nil:
		return s.router.prepared.last
	}
	return s.lastStmt
}

// notePermitted notes what the executions of a statement need that was prepared just now. Those of a user who may do
// everything are not noted.
func (s *session) notePermitted(id uint32, right parser.Right) {
	if s.granted.now.allow(parser.RightAdmin) {
		return
	}
	if s.granted.prepared == nil {
		s.granted.prepared = make(map[uint32]parser.Right)
	}
	s.granted.prepared[id] = right
}

// forgetPermitted is for a session that begins anew, of any user.
func (s *session) forgetPermitted() { s.granted = sessionRights{} }
