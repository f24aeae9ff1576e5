package proxy

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// firstSessionID is where the connection ids begin that clients get in the
// greeting. The backend's own are not known by then; a server counts from 1, so
// the two do not meet, and a KILL tells by its number which is meant.
const firstSessionID = 1 << 31

// planKill puts the backend's id in the place of a session's. A KILL of an id of
// the server's own passes.
func (s *session) planKill(p plan, sql []byte) (plan, error) {
	id, query, ok := parser.KillTarget(sql)
	if !ok || id < firstSessionID {
		return p, nil
	}
	threadID, err := s.srv.threadOf(id)
	if err != nil {
		return p, err
	}
	p.kind, p.text = planText, fmt.Sprintf("KILL %d", threadID)
	if query {
		p.text = fmt.Sprintf("KILL QUERY %d", threadID)
	}
	return p, nil
}

// processKill is COM_PROCESS_KILL, KILL's older form.
func (s *session) processKill() error {
	body, err := s.takeCommand()
	if err != nil {
		return err
	}
	if len(body) == 4 {
		if id := binary.LittleEndian.Uint32(body); id >= firstSessionID {
			threadID, err := s.srv.threadOf(uint64(id))
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint32(body, threadID)
		}
	}
	if err := s.send(append([]byte{mysql.COM_PROCESS_KILL}, body...)); err != nil {
		return err
	}
	return s.relay(shapeSingle)
}

// threadOf gives the backend's id of a session.
func (s *Server) threadOf(id uint64) (uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session != nil && uint64(session.id) == id {
			return session.threadID, nil
		}
	}
	return 0, mysql.NewDefaultError(mysql.ER_NO_SUCH_THREAD, id)
}
