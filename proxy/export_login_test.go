package proxy

import "time"

// ServerWait is what is known of how long the server waits for a packet of a login.
func (s *Server) ServerWait() time.Duration {
	s.serverWait.mu.Lock()
	defer s.serverWait.mu.Unlock()
	return s.serverWait.known
}

// MostLoginMemory is mostLoginMemory.
const MostLoginMemory = mostLoginMemory
