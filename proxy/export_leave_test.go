package proxy

import "time"

// AgeSessions has all sessions be older by d, before Shutdown begins: then only is their age read.
func (s *Server) AgeSessions(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session != nil {
			session.loggedIn = session.loggedIn.Add(-d)
		}
	}
}
