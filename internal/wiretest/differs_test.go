package wiretest

// difference is a case in which seqgate does not do what the server does. It has to differ: who mends it takes it out.
type difference struct {
	name    string // theme/case
	variant string // of the login; "" for all
	server  string // "mariadb" or "mysql"; "" for both
	reason  string
}

// Why cases differ. Most have one of few reasons.
const (
	ownGreeting     = "the greeting announces what seqgate relays (no compression, no expired passwords, ...), and its final OK tells of no session state"
	ownHandshake    = "the front end's library words errors of a handshake in its own way"
	ownAttributes   = "the library that logs in at the backend adds attributes of its own, in no order"
	ownIDs          = "the id in the greeting is seqgate's own, not the backend's CONNECTION_ID()"
	killUnseen      = "a KILL whose id does not stand in its text passes as it came, with an id that the backend does not know"
	notRelayed      = "refused: not relayed"
	noChangeUser    = "COM_CHANGE_USER is refused: its proof is for seqgate's own salt"
	backendUnseen   = "a backend connection that ends while the client is idle is not noticed until the next command"
	tellsLost       = "the next command after the backend's end is answered with error 2013 instead of the connection's end"
	closesLate      = "the connection that the server closes after its error lives on until the next command, which gets error 2013"
	partsFlag       = "in a text taken apart, the EOF after the column definitions lacks MORE_RESULTS"
	partsText       = "in a text taken apart, error 1064 quotes its own statement only, not the rest of the text"
	partsEmpty      = "in a text taken apart, a comment at the end is no statement"
	partsFile       = "in a text taken apart, LOAD DATA LOCAL is refused"
	ownQuestion     = "what seqgate asks of the session before an INSERT or PREPARE is a statement of the session's own, and resets or counts"
	renumbered      = "a command that seqgate writes anew has sequence number 0, whatever the client's was"
	ownMalformed    = "seqgate's own words for a malformed packet"
	fullFilePacket  = "the empty packet that ends a payload of 16 MiB - 1 is taken for the end of the file: both sides wait"
	fileOneWay      = "while the client's file is passed on, what the server says is not looked at"
	refusedByDesign = "refused on purpose"
)

// differences are the cases in which seqgate is known to differ.
var differences = []difference{
	{name: "login/greeting and OK", reason: ownGreeting},
	{name: "login/plain flags", reason: ownGreeting},
	{name: "login/classic flags", reason: ownGreeting},
	{name: "login/no database", reason: ownGreeting},
	{name: "login/without CONNECT_WITH_DB", reason: ownGreeting},
	{name: "login/empty password", reason: ownGreeting},
	{name: "login/MariaDB's extended flags", reason: ownGreeting},
	{name: "login/expired password, client that can handle it", server: "mysql", reason: ownGreeting},
	{name: "login/NO_SCHEMA", server: "mysql", reason: ownGreeting},
	{name: "login/without PLUGIN_AUTH", server: "mysql", reason: ownHandshake},
	{name: "login/without PROTOCOL_41", reason: ownHandshake},
	{name: "login/without SECURE_CONNECTION", reason: ownHandshake},
	{name: "login/wrong sequence number", reason: ownHandshake},
	{name: "login/empty response", reason: ownHandshake},
	{name: "login/proof longer than the packet", reason: ownHandshake},
	{name: "login/rubbish for a response", reason: ownHandshake},
	{name: "login/attributes", reason: ownAttributes},
	{name: "login/no attributes", reason: ownAttributes},
	{name: "login/attributes of 300 bytes", reason: ownAttributes},
	{name: "login/greeting's id is CONNECTION_ID()", reason: ownIDs},
	{name: "command/SHUTDOWN without rights", reason: refusedByDesign},
	{name: "command/TABLE_DUMP", reason: notRelayed},
	{name: "command/command 0x21", reason: notRelayed},
	{name: "command/REGISTER_SLAVE without rights", reason: notRelayed},
	{name: "command/BINLOG_DUMP without rights", reason: notRelayed},
	{name: "command/BINLOG_DUMP up to the end", reason: notRelayed},
	{name: "command/BINLOG_DUMP_GTID without rights", reason: notRelayed},
	{name: "command/CHANGE_USER", reason: noChangeUser},
	{name: "command/CHANGE_USER to oneself", reason: noChangeUser},
	{name: "command/CHANGE_USER to one without a password", reason: noChangeUser},
	{name: "command/CHANGE_USER with a wrong password", reason: noChangeUser},
	{name: "command/CHANGE_USER to nobody", reason: noChangeUser},
	{name: "command/CHANGE_USER to an unknown database", reason: noChangeUser},
	{name: "command/CHANGE_USER with another charset", reason: noChangeUser},
	{name: "command/CHANGE_USER malformed", reason: noChangeUser},
	{name: "result/profiling", reason: ownQuestion},
	{name: "several/INSERT and SET", variant: "classic", reason: partsFlag},
	{name: "several/INSERT and CREATE", variant: "classic", reason: partsFlag},
	{name: "several/INSERT and warnings", variant: "classic", reason: partsFlag},
	{name: "several/PREPARE among others", variant: "classic", reason: partsFlag},
	{name: "several/KILL among others", variant: "classic", reason: partsFlag},
	{name: "several/INSERT and an error of syntax", reason: partsText},
	{name: "several/INSERT and empty statements", reason: partsEmpty},
	{name: "several/LOAD DATA LOCAL among others", reason: partsFile},
	{name: "statement/FOUND_ROWS() over a prepare", reason: ownQuestion},
	{name: "statement/ROW_COUNT() over a prepare", reason: ownQuestion},
	{name: "statement/FOUND_ROWS() over a text of PREPARE", reason: ownQuestion},
	{name: "infile/of a packet of 16 MiB - 1", reason: fullFilePacket},
	{name: "infile/pipelined with the next command", reason: fileOneWay},
	{name: "session/COMMIT AND CHAIN, RELEASE", reason: tellsLost},
	{name: "session/command after the server closed", reason: tellsLost},
	{name: "session/FOUND_ROWS() into a table", reason: ownQuestion},
	{name: "session/FOUND_ROWS() after an INSERT", reason: ownQuestion},
	{name: "session/diagnostics after CALL into a table", reason: ownQuestion},
	{name: "session/USE and INSERT", reason: ownQuestion},
	{name: "session/counters of statements", reason: ownQuestion},
	{name: "session/server closes an idle session", reason: backendUnseen},
	{name: "track/transaction characteristics", reason: ownQuestion},
	{name: "kill/KILL by CONNECTION_ID()", reason: tellsLost},
	{name: "kill/KILL by the greeting's id", reason: tellsLost},
	{name: "kill/KILL CONNECTION by the greeting's id", reason: tellsLost},
	{name: "kill/PROCESS_KILL by the greeting's id", reason: tellsLost},
	{name: "kill/KILL of oneself", reason: tellsLost},
	{name: "kill/KILL of oneself by the greeting's id", reason: tellsLost},
	{name: "kill/KILL QUERY by an expression", reason: killUnseen},
	{name: "kill/KILL QUERY by a variable", reason: killUnseen},
	{name: "kill/KILL QUERY prepared", reason: killUnseen},
	{name: "kill/KILL QUERY in a text of PREPARE", reason: killUnseen},
	{name: "kill/KILL of an idle client is seen at once", reason: backendUnseen},
	{name: "large/text beyond max_allowed_packet", reason: closesLate},
	{name: "large/INSERT beyond max_allowed_packet", reason: closesLate},
	{name: "large/PREPARE beyond max_allowed_packet", reason: closesLate},
	{name: "malformed/empty command", reason: ownMalformed},
	{name: "malformed/QUERY with sequence number 1", reason: closesLate},
	{name: "malformed/INSERT with sequence number 1", reason: closesLate},
	{name: "malformed/PING with sequence number 7", reason: closesLate},
	{name: "malformed/PING with sequence number 255", reason: closesLate},
	{name: "malformed/PREPARE with sequence number 1", reason: closesLate},
	{name: "malformed/EXECUTE with sequence number 1", reason: closesLate},
	{name: "malformed/INIT_DB with sequence number 1", reason: renumbered},
	{name: "malformed/SET_OPTION with sequence number 1", reason: renumbered},
	{name: "malformed/query attributes cut", reason: ownMalformed},
	{name: "malformed/query attributes of a huge number", reason: ownMalformed},
	{name: "malformed/query attributes without their number", reason: ownMalformed},
	{name: "malformed/query attributes without types", reason: ownMalformed},
}

// knownDifference gives the reason why a case differs, "" when it must not.
func knownDifference(name, variant, server string) string {
	for _, d := range differences {
		if d.name == name && (d.variant == "" || d.variant == variant) && (d.server == "" || d.server == server) {
			return d.reason
		}
	}
	return ""
}
