package wiretest

import "strings"

// loginCases compare greetings and the ends of logins.
var loginCases = []wireCase{
	{name: "greeting and OK", sees: true},
	{name: "plain flags", sees: true, login: login{flags: plainFlags}},
	{name: "classic flags", sees: true, login: login{flags: classicFlags}},
	{name: "no database", sees: true, login: login{noDatabase: true}, steps: queries("SELECT DATABASE()", "SELECT * FROM few")},
	{name: "without CONNECT_WITH_DB", sees: true, login: login{flags: modernFlags &^ connectWithDB}, steps: queries("SELECT DATABASE()")},
	{name: "other database", login: login{database: "information_schema"}, steps: queries("SELECT DATABASE()")},
	{name: "unknown database", login: login{database: "no_such_database"}},
	{name: "database with a quote", login: login{database: "a'`b"}},
	{name: "database without rights", login: login{user: "poor", database: "mysql"}},
	{name: "wrong password", login: login{password: "wrong"}},
	{name: "wrong password, no database", login: login{password: "wrong", noDatabase: true}},
	{name: "no password where one is due", login: login{noPassword: true}},
	{name: "empty password", sees: true, login: login{user: "nopass", noPassword: true}, steps: queries("SELECT CURRENT_USER()")},
	{name: "password where none is due", login: login{user: "nopass", password: "x"}},
	{name: "unknown user", login: login{user: "nobody_here"}},
	{name: "unknown user without a password", login: login{user: "nobody_here", noPassword: true}},
	{name: "empty user", login: login{nobody: true, noPassword: true}},
	{name: "long user", login: login{user: strings.Repeat("u", 100)}},
	{name: "user with a quote", login: login{user: "o'brien"}},
	{name: "poor user", login: login{user: "poor"}, steps: queries("SELECT CURRENT_USER(), USER()", "SELECT COUNT(*) FROM few", "DELETE FROM few WHERE id > 100")},
	{name: "locked user", login: login{user: "locked"}},
	{name: "expired password", login: login{user: "expired", noDatabase: true}, steps: queries("SELECT 1", "SET @a = 1")},
	{name: "PREPARE with an expired password", login: login{user: "expired", noDatabase: true, flags: modernFlags | expiredPasswords},
		steps: queries("PREPARE s FROM \"SELECT 1\"", "PREPARE s FROM \"INSERT INTO few VALUES (9, 'x')\"", "PREPARE s FROM \"SET PASSWORD = ''\"", "DEALLOCATE PREPARE s")},
	{name: "expired password, client that can handle it", login: login{user: "expired", noDatabase: true, flags: modernFlags | expiredPasswords},
		steps: queries("SELECT 1", "SET @a = 1")},
	{name: "user that has to use TLS", login: login{user: "tlsonly", noDatabase: true}},
	{name: "TLS", only: "mysql", login: login{tls: true}, steps: queries("SELECT CURRENT_USER()",
		"SELECT VARIABLE_VALUE <> '' FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Ssl_cipher'")},
	{name: "TLS, user that has to use it", only: "mysql", login: login{user: "tlsonly", noDatabase: true, tls: true}, steps: queries("SELECT CURRENT_USER()")},
	{name: "TLS, wrong password", only: "mysql", login: login{tls: true, password: "wrong"}},
	{name: "TLS, empty password", only: "mysql", login: login{tls: true, user: "nopass", noPassword: true}, steps: queries("SELECT 1")},
	{name: "answer of native_password", login: login{plugin: nativePassword}, steps: queries("SELECT CURRENT_USER()")},
	{name: "answer of caching_sha2_password", login: login{plugin: cachingSHA2}, steps: queries("SELECT CURRENT_USER()")},
	{name: "answer of an unknown plugin", login: login{plugin: "no_such_plugin"}, steps: queries("SELECT CURRENT_USER()")},
	{name: "without PLUGIN_AUTH", login: login{flags: modernFlags &^ pluginAuth}, steps: queries("SELECT 1")},
	{name: "connections of one user", login: login{user: "single", noDatabase: true},
		steps: []step{connect("b", login{user: "single", noDatabase: true})}},
	{name: "attributes", login: login{attributes: [][2]string{{"_client_name", "wiretest"}, {"_pid", "12"}, {"empty", ""}, {"program_name", "ä"}}}, steps: []step{
		query("SELECT ATTR_NAME, ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() ORDER BY ORDINAL_POSITION"),
	}},
	{name: "no attributes", steps: []step{
		query("SELECT COUNT(*) FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID()"),
	}},
	{name: "attributes of 300 bytes", login: login{attributes: [][2]string{{"long", strings.Repeat("v", 300)}}}, steps: []step{
		query("SELECT ATTR_NAME, ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() ORDER BY ORDINAL_POSITION"),
	}},
	{name: "greeting's id is CONNECTION_ID()", steps: queries("SELECT CONNECTION_ID() = {id:} AS same")},
	{name: "MariaDB's extended flags", only: "mariadb", sees: true,
		login: login{flags: modernFlags&^longPassword | extendedMetadata | bulkOperations}, steps: []step{
			query("SELECT j, g FROM types"),
			query("SELECT 1"),
		}},
	{name: "FOUND_ROWS", login: login{flags: modernFlags | foundRows}, steps: queries(
		"CREATE TABLE found (a INT, b INT)", "INSERT INTO found VALUES (1, 1), (2, 1)", "UPDATE found SET b = 1", "UPDATE found SET b = 2 WHERE a = 1",
		"DROP TABLE found")},
	{name: "without FOUND_ROWS", steps: queries(
		"CREATE TABLE found (a INT, b INT)", "INSERT INTO found VALUES (1, 1), (2, 1)", "UPDATE found SET b = 1", "UPDATE found SET b = 2 WHERE a = 1",
		"DROP TABLE found")},
	{name: "IGNORE_SPACE", login: login{flags: modernFlags | ignoreSpace}, steps: queries("SELECT COUNT (*) FROM few", "SELECT @@sql_mode")},
	{name: "without IGNORE_SPACE", steps: queries("SELECT COUNT (*) FROM few", "SELECT @@sql_mode")},
	{name: "INTERACTIVE", login: login{flags: modernFlags | interactive}, steps: queries("SELECT @@wait_timeout = @@interactive_timeout")},
	{name: "NO_SCHEMA", login: login{flags: modernFlags | noSchema}, steps: queries("SELECT id FROM {db}.few WHERE id = 1")},
	{name: "ODBC", login: login{flags: modernFlags | odbc}, steps: queries("SELECT id FROM few WHERE id = 1")},
	{name: "without LONG_FLAG", login: login{flags: modernFlags &^ longFlag}, steps: queries("SELECT * FROM few WHERE id = 1")},
	{name: "without TRANSACTIONS", login: login{flags: modernFlags &^ transactions}, steps: queries("BEGIN", "SELECT 1", "COMMIT")},
	{name: "without MULTI_STATEMENTS", login: login{flags: modernFlags &^ multiStatements}, steps: queries("SELECT 1; SELECT 2", "SELECT 3;")},
	{name: "without MULTI_RESULTS", login: login{flags: modernFlags &^ (multiStatements | multiResults)}, steps: queries("CALL two_results()", "CALL no_result()")},
	{name: "without LOCAL_FILES", login: login{flags: modernFlags &^ localFiles}, steps: []step{
		query("CREATE TABLE nofile (a INT)"), query("LOAD DATA LOCAL INFILE 'f' INTO TABLE nofile").withFile("1\n"), query("DROP TABLE nofile")}},
	{name: "without QUERY_ATTRIBUTES", login: login{flags: modernFlags &^ queryAttributes}, steps: queries("SELECT 1")},
	{name: "without PROTOCOL_41", sees: true, login: login{response: func(c *client) []byte {
		return frame(1, append([]byte{0x05, 0xa4, 0, 0, 1}, "app\x00"...))
	}}},
	{name: "without SECURE_CONNECTION", login: login{flags: plainFlags &^ secureConnection}, steps: queries("SELECT 1")},
	{name: "wrong sequence number", sees: true, login: login{response: func(c *client) []byte {
		return frame(3, c.handshakeResponse(login{user: "app", database: "x", charset: 45}, c.greeting.plugin))
	}}},
	{name: "empty response", sees: true, login: login{response: func(c *client) []byte { return frame(1, nil) }}},
	{name: "response cut in its flags", sees: true, login: login{response: func(c *client) []byte { return frame(1, []byte{0x85, 0xa6}) }}},
	{name: "response cut in its head", sees: true, login: login{response: func(c *client) []byte {
		return frame(1, c.responseHead(login{})[:20])
	}}},
	{name: "response cut before the user", sees: true, login: login{flags: modernFlags, response: func(c *client) []byte {
		return frame(1, append(c.responseHead(login{}), "ap"...))
	}}},
	{name: "proof longer than the packet", sees: true, login: login{response: func(c *client) []byte {
		return frame(1, append(c.responseHead(login{}), "app\x00\xf0ab"...))
	}}},
	{name: "rubbish for a response", sees: true, login: login{response: func(c *client) []byte {
		return frame(1, []byte("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: rubbish\r\n\r\n"))
	}}},
}
