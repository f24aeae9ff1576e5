package backend

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// resetTimeout bounds making a connection as new, and choosing its database. Tests on loaded machines give it more.
var resetTimeout = time.Second

// errUnclean tells that a session left behind what no reset takes away.
var errUnclean = errors.New("the connection cannot be made as new")

// resetCommand is one command of a reset. It has to succeed.
type resetCommand struct {
	command byte
	text    string
	finds   bool // it affects a row when it finds the connection unclean
}

// sql is a statement of a reset.
func sql(text string) resetCommand { return resetCommand{command: mysql.COM_QUERY, text: text} }

// reset makes the connection as it was after its login, but for the default
// database. All is sent in one write.
func (c *Conn) reset() error {
	commands := append(c.beforeReset(), resetCommand{command: comResetConnection})
	commands = append(commands, c.afterReset()...)
	var b []byte
	for _, r := range commands {
		text := r.text
		if r.command == mysql.COM_QUERY && c.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
			text = "\x00\x01" + text // no attributes
		}
		b = appendCommand(b, r.command, text)
	}
	err := c.exchange(b, commands)
	c.vetted = c.vetted || err == nil
	return err
}

// beforeReset are commands for what COM_RESET_CONNECTION leaves behind. It
// takes away the traces of these commands in turn. (docs/internals/protocol.md lists both.)
func (c *Conn) beforeReset() []resetCommand {
	// Fails in an XA transaction, also in a prepared one.
	commands := []resetCommand{sql("ROLLBACK AND NO CHAIN NO RELEASE")}
	if c.isMariaDB() {
		// The first statement that ends while profiling is on cuts the history.
		commands = append(commands, sql("SET profiling_history_size = 0, profiling = 1"), c.findUnclean(), sql("SET profiling = 0"))
		if c.login.Database != "" {
			// Choosing the same database again would not look whether it is another one by now.
			commands = append(commands, resetCommand{command: mysql.COM_INIT_DB, text: "information_schema"})
		}
	} else {
		commands = append(commands, sql("SET ROLE DEFAULT"), c.findUnclean(), sql("SET optimizer_trace = 'enabled=off', optimizer_trace_offset = -1"))
	}
	statements := "\x01\x00" // MYSQL_OPTION_MULTI_STATEMENTS_OFF
	if c.has(mysql.CLIENT_MULTI_STATEMENTS) {
		statements = "\x00\x00"
	}
	return append(commands, resetCommand{command: mysql.COM_SET_OPTION, text: statements})
}

// afterReset are commands that bring back the collation of the handshake. MySQL
// forgets it at a reset; MariaDB takes one of its own for MySQL's usual one, where
// a login gets the server's default, or from 11.4.5 on what comes next to it.
func (c *Conn) afterReset() []resetCommand {
	switch {
	case !c.isMariaDB():
		charset, collation := c.login.names()
		// The second one clears the warnings that an old collation gives.
		return []resetCommand{sql("SET NAMES " + charset + " COLLATE " + collation), sql("SET sql_notes = @@sql_notes")}
	case c.login.Charset == utf8mb40900:
		return []resetCommand{sql("SET character_set_client = DEFAULT, character_set_results = DEFAULT, " +
			"collation_connection = DEFAULT /*M!110405 , NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci */")}
	}
	return nil
}

// names returns the client's character set and its collation as MySQL calls them: the
// only way to set, as a login does, the collation that results are told to have.
// A name that is not known is refused, and the connection is closed.
func (l Login) names() (charset, collation string) {
	collation, _ = parser.CollationName(l.Charset)
	if rest, old := strings.CutPrefix(collation, "utf8_"); old {
		collation = "utf8mb3_" + rest
	}
	charset, _, _ = strings.Cut(collation, "_")
	return charset, cmp.Or(collation, "unknown")
}

// utf8mb40900 is the id of utf8mb4_0900_ai_ci.
const utf8mb40900 = 255

// comResetConnection is COM_RESET_CONNECTION, which go-mysql does not name.
const comResetConnection = 0x1f

// findUnclean finds a row when the connection cannot be made as new. Finding
// none, it also makes FOUND_ROWS() 0, which no reset does. Its own LIMIT takes
// precedence over sql_select_limit.
func (c *Conn) findUnclean() resetCommand {
	unclean := []string{"@@init_connect <> ''"} // done at a login only
	switch {
	case !c.isMariaDB():
		unclean = append(unclean, "@@activate_all_roles_on_login")
	case c.vetted:
		unclean = append(unclean, "CURRENT_ROLE() IS NOT NULL")
	default:
		unclean = append(unclean, "CURRENT_ROLE() IS NOT NULL",
			"(SELECT COUNT(*) FROM information_schema.applicable_roles WHERE is_default = 'YES') <> 0")
		if c.login.Charset != utf8mb40900 { // a reset takes another default than a login for one that is unknown
			unclean = append(unclean, fmt.Sprintf("(SELECT COUNT(*) FROM information_schema.collations WHERE id = %d) = 0", c.login.Charset))
		}
	}
	if c.login.Database == "" {
		unclean = append(unclean, "DATABASE() IS NOT NULL")
	}
	find := sql("SELECT 1 FROM DUAL WHERE " + strings.Join(unclean, " OR ") + " LIMIT 1 INTO @unclean")
	find.finds = true
	return find
}

// selectDatabase makes name the default database.
func (c *Conn) selectDatabase(name string) error {
	command := resetCommand{command: mysql.COM_INIT_DB, text: name}
	return c.exchange(appendCommand(nil, command.command, name), []resetCommand{command})
}

// exchange sends commands and reads their answers, an OK for each.
func (c *Conn) exchange(b []byte, commands []resetCommand) error {
	if err := c.SetDeadline(time.Now().Add(resetTimeout)); err != nil {
		return err
	}
	if _, err := c.Write(b); err != nil {
		return err
	}
	r := bufio.NewReaderSize(c, 512)
	for _, command := range commands {
		p, err := readPacket(r)
		if err != nil {
			return err
		}
		if err := c.judge(command, p); err != nil {
			return err
		}
	}
	if r.Buffered() != 0 {
		return fmt.Errorf("%w: the server sent more than was asked for", errUnclean)
	}
	return c.SetDeadline(time.Time{})
}

// judge takes a command's answer.
func (c *Conn) judge(command resetCommand, p []byte) error {
	if command.command == mysql.COM_SET_OPTION && p[0] == mysql.EOF_HEADER {
		return nil
	}
	affected, status, ok := parseOK(p)
	switch {
	case p[0] == mysql.ERR_HEADER:
		return fmt.Errorf("%w: %w", errUnclean, &handshake.Refused{Packet: p})
	case !ok:
		return fmt.Errorf("%w: an answer of type %#x", errUnclean, p[0])
	case command.finds && affected != 0:
		return errUnclean
	}
	if command.command == comResetConnection {
		c.Status = status &^ mysql.SERVER_SESSION_STATE_CHANGED
	}
	return nil
}

// has reports whether both sides have a capability.
func (c *Conn) has(capability uint32) bool {
	return c.login.Capabilities&c.Capabilities&uint64(capability) != 0
}

func (c *Conn) isMariaDB() bool { return strings.Contains(c.Version, "MariaDB") }

// appendCommand appends the packet of a short command.
func appendCommand(dst []byte, command byte, text string) []byte {
	n := len(text) + 1
	dst = append(dst, byte(n), byte(n>>8), byte(n>>16), 0, command)
	return append(dst, text...)
}

// maxAnswer bounds the packets that are read here; session state makes an OK
// longer than a few bytes.
const maxAnswer = 64 << 10

// readPacket reads a packet and gives its payload, of one byte at least.
func readPacket(r io.Reader) ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if length == 0 || length > maxAnswer {
		return nil, fmt.Errorf("the server sent a packet of %d bytes", length)
	}
	p := make([]byte, length)
	_, err := io.ReadFull(r, p)
	return p, err
}

// parseOK reads the fixed part of an OK packet.
func parseOK(p []byte) (affected uint64, status uint16, ok bool) {
	if len(p) < 2 || p[0] != mysql.OK_HEADER {
		return 0, 0, false
	}
	affected, p, ok = lengthEncoded(p[1:])
	if !ok {
		return 0, 0, false
	}
	_, p, ok = lengthEncoded(p) // insert id
	if !ok || len(p) < 2 {
		return 0, 0, false
	}
	return affected, binary.LittleEndian.Uint16(p), true
}

// lengthEncoded cuts a length-encoded number off p.
func lengthEncoded(p []byte) (n uint64, rest []byte, ok bool) {
	width := 1
	if len(p) > 0 {
		switch p[0] {
		case 0xfc:
			width = 3
		case 0xfd:
			width = 4
		case 0xfe:
			width = 9
		}
	}
	if len(p) < width {
		return 0, nil, false
	}
	n, null, width := mysql.LengthEncodedInt(p)
	return n, p[width:], !null
}
