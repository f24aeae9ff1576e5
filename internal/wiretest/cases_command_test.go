package wiretest

// commandCases are about each command by itself.
var commandCases = []wireCase{
	{name: "PING", steps: []step{command(comPing, ""), command(comPing, "")}},
	{name: "PING with arguments", steps: []step{command(comPing, "arguments")}},
	{name: "STATISTICS", steps: []step{command(comStatistics, "").masked(hideNumbers)}},
	{name: "QUIT", steps: []step{quit()}},
	{name: "QUIT with arguments", steps: []step{command(comQuit, "now").reads(hangup)}},
	{name: "INIT_DB", steps: []step{command(comInitDB, "information_schema"), query("SELECT DATABASE()"), command(comInitDB, "{db}"), query("SELECT DATABASE()")}},
	{name: "INIT_DB of an unknown database", steps: []step{command(comInitDB, "no_such_database"), query("SELECT DATABASE()")}},
	{name: "INIT_DB without a name", steps: []step{command(comInitDB, ""), query("SELECT DATABASE()")}},
	{name: "INIT_DB with a NUL", steps: []step{command(comInitDB, "mysql\x00"), query("SELECT DATABASE()")}},
	{name: "INIT_DB without rights", login: login{user: "poor"}, steps: []step{command(comInitDB, "mysql")}},
	{name: "INIT_DB then a table by its short name", login: login{noDatabase: true}, steps: []step{
		query("INSERT INTO few VALUES (9, 'no')"), command(comInitDB, "{db}"), query("SELECT COUNT(*) FROM few")}},
	{name: "FIELD_LIST", steps: []step{command(comFieldList, "few\x00").reads(fields)}},
	{name: "FIELD_LIST with a pattern", steps: []step{command(comFieldList, "few\x00s%").reads(fields)}},
	{name: "FIELD_LIST of all types", steps: []step{command(comFieldList, "types\x00").reads(fields)}},
	{name: "FIELD_LIST of an unknown table", steps: []step{command(comFieldList, "nosuch\x00").reads(fields)}},
	{name: "FIELD_LIST of a view", steps: []step{command(comFieldList, "some\x00").reads(fields)}},
	{name: "FIELD_LIST cut", accounts: true, steps: []step{command(comFieldList, "few").reads(fields)}},
	{name: "FIELD_LIST of nothing", steps: []step{command(comFieldList, "").reads(fields), command(comFieldList, "\x00").reads(fields)}},
	{name: "FIELD_LIST without a database", login: login{noDatabase: true}, steps: []step{command(comFieldList, "few\x00").reads(fields)}},
	{name: "CREATE_DB", steps: []step{command(comCreateDB, "created")}},
	{name: "DROP_DB", steps: []step{command(comDropDB, "no_such_database")}},
	{name: "REFRESH", steps: []step{command(comRefresh, "\x02")}},
	{name: "SHUTDOWN without rights", login: login{user: "poor"}, steps: []step{command(comShutdown, "")}},
	{name: "PROCESS_INFO", login: login{user: "poor"}, steps: []step{command(comProcessInfo, "").reads(results).masked(onlyEnds)}},
	{name: "CONNECT", steps: []step{command(comConnect, "")}},
	{name: "DEBUG", steps: []step{command(comDebug, "")}},
	{name: "DEBUG without rights", login: login{user: "poor"}, steps: []step{command(comDebug, "")}},
	{name: "TIME", steps: []step{command(comTime, "")}},
	{name: "DELAYED_INSERT", steps: []step{command(comDelayedInsert, "")}},
	{name: "TABLE_DUMP", steps: []step{command(comTableDump, "\x00\x00")}},
	{name: "CONNECT_OUT", steps: []step{command(comConnectOut, "")}},
	{name: "DAEMON", steps: []step{command(comDaemon, "")}},
	{name: "SLEEP", steps: []step{command(comSleep, "")}},
	{name: "command 0x20", steps: []step{command(0x20, "")}},
	{name: "command 0x21", steps: []step{command(0x21, "")}},
	{name: "command 0x3f", steps: []step{command(0x3f, "something")}},
	{name: "command 0x7f", steps: []step{command(0x7f, "")}},
	{name: "command 0xfe", steps: []step{command(0xfe, "")}},
	{name: "command 0xff", steps: []step{command(0xff, "")}},
	{name: "BULK_EXECUTE unasked for", only: "mariadb", steps: []step{
		prepare("DO ?"), stmtCommand(comStmtBulkExecute, 1, "\x80\x00\x08\x00"+"\x00"+"\x01\x00\x00\x00\x00\x00\x00\x00")}},
	{name: "REGISTER_SLAVE without rights", login: login{user: "poor"}, steps: []step{
		command(comRegisterReplica, number(99)+"\x00\x00\x00\x00\x00"+number(0)+number(0))}},
	{name: "REGISTER_SLAVE", steps: []step{command(comRegisterReplica, number(99)+"\x00\x00\x00\x00\x00"+number(0)+number(0))}},
	{name: "REGISTER_SLAVE cut", steps: []step{command(comRegisterReplica, "\x01")}},
	{name: "BINLOG_DUMP of an unknown file", steps: []step{command(comBinlogDump, number(4)+"\x01\x00"+number(99)+"nosuch.000001").reads(fetched)}},
	{name: "BINLOG_DUMP from an impossible position", steps: []step{command(comBinlogDump, number(1<<30)+"\x01\x00"+number(99)+"bin.000001").reads(fetched).masked(hideNumbers)}},
	{name: "BINLOG_DUMP cut", steps: []step{command(comBinlogDump, "\x04\x00").reads(fetched)}},
	{name: "BINLOG_DUMP_GTID cut", steps: []step{command(comBinlogDumpGTID, "\x04\x00").reads(fetched)}},
	{name: "BINLOG_DUMP without rights", login: login{user: "poor"}, steps: []step{command(comBinlogDump, number(4)+"\x01\x00"+number(99))}},
	{name: "BINLOG_DUMP up to the end", steps: []step{
		query("SET @master_binlog_checksum = 'NONE', @source_binlog_checksum = 'NONE', @mariadb_slave_capability = 4"),
		command(comBinlogDump, number(4)+"\x01\x00"+number(99)+"bin.000001").reads(fetched).masked(onlyKinds)}},
	{name: "BINLOG_DUMP_GTID without rights", login: login{user: "poor"}, steps: []step{
		command(comBinlogDumpGTID, "\x01\x00"+number(99)+number(0)+"\x04\x00\x00\x00\x00\x00\x00\x00"+number(8)+"\x00\x00\x00\x00\x00\x00\x00\x00")}},
	{name: "SET_OPTION off", steps: []step{command(comSetOption, "\x01\x00"), query("SELECT 1; SELECT 2")}},
	{name: "SET_OPTION on", login: login{flags: modernFlags &^ multiStatements}, steps: []step{
		query("SELECT 1; SELECT 2"), command(comSetOption, "\x00\x00"), query("SELECT 1; SELECT 2")}},
	{name: "SET_OPTION unknown", steps: []step{command(comSetOption, "\x07\x00")}},
	{name: "SET_OPTION short", steps: []step{command(comSetOption, "\x01")}},
	{name: "SET_OPTION without EOF", login: login{flags: classicFlags}, steps: []step{command(comSetOption, "\x01\x00"), command(comSetOption, "\x00\x00")}},
	{name: "RESET_CONNECTION", steps: []step{
		query("SET @a = 1, autocommit = 0, sql_mode = 'ANSI'"), query("CREATE TEMPORARY TABLE gone (a INT)"), prepare("SELECT 1"), query("BEGIN"),
		command(comResetConnection, ""), query("SELECT @a, @@autocommit, @@sql_mode = 'ANSI', DATABASE()"), query("SELECT * FROM gone"), execute(1, noCursor)}},
	{name: "RESET_CONNECTION rolls back", steps: []step{
		query("CREATE TABLE rolled (a INT)"), query("BEGIN"), query("INSERT INTO rolled VALUES (1)"), command(comResetConnection, ""),
		query("SELECT COUNT(*) FROM rolled"), query("SELECT @@character_set_client, @@collation_connection"), query("DROP TABLE rolled")}},
	{name: "RESET_CONNECTION with arguments", steps: []step{command(comResetConnection, "arguments"), query("SELECT 1")}},
	{name: "CHANGE_USER", accounts: true, steps: []step{
		query("SET @a = 1"), changeUser("poor", "poor", "{db}", 45), query("SELECT CURRENT_USER(), DATABASE(), @a"), query("SELECT COUNT(*) FROM mysql.db")}},
	{name: "CHANGE_USER to oneself", accounts: true, steps: []step{
		query("SET @a = 1"), query("CREATE TEMPORARY TABLE gone (a INT)"), prepare("SELECT 1"), changeUser("app", "app", "", 45),
		query("SELECT CURRENT_USER(), DATABASE(), @a"), query("SELECT * FROM {db}.gone"), execute(1, noCursor)}},
	{name: "CHANGE_USER to one without a password", accounts: true, steps: []step{changeUser("nopass", "", "{db}", 45), query("SELECT CURRENT_USER()")}},
	{name: "CHANGE_USER with a wrong password", accounts: true, steps: []step{changeUser("poor", "wrong", "", 45), query("SELECT CURRENT_USER()")}},
	{name: "CHANGE_USER to nobody", accounts: true, steps: []step{changeUser("nobody_here", "x", "", 45), query("SELECT CURRENT_USER()")}},
	{name: "CHANGE_USER to an unknown database", accounts: true, steps: []step{changeUser("app", "app", "no_such_database", 45), query("SELECT CURRENT_USER()")}},
	{name: "CHANGE_USER with another charset", accounts: true, steps: []step{changeUser("app", "app", "", 8), query("SELECT @@character_set_client, @@collation_connection")}},
	{name: "CHANGE_USER to the same", steps: []step{
		query("SET @a = 1, sql_mode = 'ANSI_QUOTES'"), query("CREATE TEMPORARY TABLE gone (a INT)"), prepare("SELECT 1"), changeUser("app", "app", "{db}", 45),
		query("SELECT DATABASE(), @a, @@sql_mode = 'ANSI_QUOTES', LAST_INSERT_ID(), @@collation_connection"), query("SELECT * FROM {db}.gone"), execute(1, noCursor)}},
	{name: "CHANGE_USER after SET_OPTION off", steps: []step{command(comSetOption, "\x01\x00"), changeUser("app", "app", "{db}", 45),
		query("SELECT 1; INSERT INTO few VALUES (77, 'x')"), query("SELECT COUNT(*) FROM few")}},
	{name: "CHANGE_USER after SET_OPTION on", login: login{flags: modernFlags &^ multiStatements}, steps: []step{command(comSetOption, "\x00\x00"),
		changeUser("app", "app", "{db}", 45), query("SELECT 1; SELECT 2")}},
	{name: "CHANGE_USER malformed", accounts: true, steps: []step{command(comChangeUser, "app"), query("SELECT CURRENT_USER()")}},
	{name: "PROCESS_KILL of nobody", steps: []step{command(comProcessKill, number(999999999))}},
	{name: "PROCESS_KILL short", steps: []step{command(comProcessKill, "\x01")}},
	{name: "PROCESS_KILL without rights", login: login{user: "poor"}, steps: []step{
		connect("b", login{}), learnID().on("b"), query("KILL {cid:b}").masked(hideNumbers), query("SELECT 1").on("b")}},
	{name: "several in one write", steps: []step{pipelined(query("SELECT 1"), command(comPing, ""), query("SELECT nosuch"), prepare("SELECT ?"),
		query("SELECT 2"))}},
	{name: "several in one write, with silent ones", steps: []step{prepare("SELECT ?"), pipelined(longData(1, 0, "abc"),
		execute(1, noCursor, param{kind: typeBlob, long: true}), closeStmt(1), query("SELECT 3"), execute(1, noCursor))}},
	{name: "several in one write, then QUIT", steps: []step{pipelined(query("SELECT 1"), query("SELECT 2"), quit())}},
	{name: "byte by byte", steps: []step{inPieces(1, query("SELECT 'byte by byte'")), inPieces(3, query("INSERT INTO few VALUES (1, 'x')"))}},
}

// changeUser is COM_CHANGE_USER, with the proof for the greeting's salt.
func changeUser(user, password, database string, charset byte) step {
	s := step{label: "CHANGE_USER " + user + " " + database, answers: []shape{rights}, password: password}
	s.send = func(r *run, c *client) []byte {
		plugin := c.greeting.plugin
		b := append([]byte{comChangeUser}, user...)
		b = append(b, 0)
		b = appendLengthEncoded(b, string(scramble(plugin, password, c.greeting.salt)))
		b = append(append(b, r.expand(database)...), 0)
		b = append(append(append(b, charset, 0), plugin...), 0)
		if c.has(connectAttrs) {
			b = append(b, 0)
		}
		return frame(0, b)
	}
	return s
}

// inPieces writes what a step sends in pieces of n bytes.
func inPieces(n int, s step) step {
	whole := s.send
	s.label = "in pieces: " + s.label
	s.send = func(r *run, c *client) []byte {
		b := whole(r, c)
		for len(b) > n {
			if _, err := c.Write(b[:n]); err != nil {
				return nil
			}
			b = b[n:]
		}
		return b
	}
	return s
}
