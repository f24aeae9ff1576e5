package proxy

import "github.com/seqgate/seqgate/proxy/wire"

// renumber gives a command that came compressed, in one packet, the number that a
// command has. Servers check the numbers of compressed packets, and not of those inside:
// MySQL's Connector/J numbers its commands 1 there. It reports false where the number
// is wrong for the servers, too.
func (s *clientConn) renumber(length int) bool {
	c, compressed := s.front.Conn.(*wire.Compressed)
	if !compressed || c.Opened.Load() != 0 || length == wire.MaxPayload {
		return false
	}
	s.front.Unread()[wire.HeaderSize-1] = 0
	return true
}
