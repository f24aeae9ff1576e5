package proxy

import "github.com/go-mysql-org/go-mysql/mysql"

// statusANSIQuotes is MariaDB's flag for the SQL mode ANSI_QUOTES.
const statusANSIQuotes = 0x8000

// lastingStatus are the flags that tell of the session. The others tell of one answer:
// that more follow, that its packet has news of the session, that a cursor is open.
const lastingStatus = mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_IN_TRANS_READONLY | mysql.SERVER_STATUS_AUTOCOMMIT |
	mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED | statusANSIQuotes

// status gives the flags of an answer that no server made.
func (c *serverConn) status() uint16 { return c.answer.status & lastingStatus }

// tidy has the packet be as a client with or without CLIENT_SESSION_TRACK reads it:
// news of the session, which follow the info text, and the flag that says so stand
// together or not at all. Merged from those of several servers it may have one of them.
func (ok *okPacket) tidy(track bool) {
	const flag = mysql.SERVER_SESSION_STATE_CHANGED
	n, null, size := lengthEncoded(ok.rest)
	if null || size == 0 || uint64(len(ok.rest)-size) < n {
		ok.status &^= flag
		return // no news, and an info text at most
	}
	info := size + int(n)
	if track && ok.status&flag != 0 && len(ok.rest) > info {
		return
	}
	ok.status &^= flag
	if ok.rest = ok.rest[:info]; n == 0 {
		ok.rest = nil
	}
}
