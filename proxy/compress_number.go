package proxy

// renumber gives a command that came compressed, in one packet, the number that a
// command has. Servers check the numbers of compressed packets, and not of those inside:
// MySQL's Connector/J numbers its commands 1 there. It reports false where the number
// is wrong for the servers, too.
func (s *clientConn) renumber(length int) bool {
	c, compressed := s.front.Conn.(*compressedConn)
	if !compressed || c.opened.Load() != 0 || length == maxPayload {
		return false
	}
	s.front.unread()[headerSize-1] = 0
	return true
}
