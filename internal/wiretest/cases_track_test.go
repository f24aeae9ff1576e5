package wiretest

// trackCases are about what OK packets tell of the session's state ("Session State Information" of the MySQL manual).
var trackCases = []wireCase{
	{name: "schema", steps: []step{query("USE mysql"), query("USE {db}"), command(comInitDB, "mysql"), command(comInitDB, "{db}"), query("USE nosuch")}},
	{name: "system variables", steps: queries("SET autocommit = 0", "SET autocommit = 1", "SET NAMES latin1", "SET time_zone = '+01:00'", "SET sql_mode = 'ANSI'")},
	{name: "more system variables", steps: queries("SET session_track_system_variables = 'sort_buffer_size,sql_mode,lock_wait_timeout,sql_warnings'", "SET sort_buffer_size = 400000", "SET @a = 1", "INSERT INTO few VALUES (1, 'x')", "SET sql_mode = ''", "SET @@session.lock_wait_timeout = 5, sql_warnings = 1")},
	{name: "state changes", steps: queries("SET session_track_state_change = 1", "SET @a = 1", "USE {db}", "SELECT 1", "CREATE TEMPORARY TABLE tt (a INT)", "INSERT INTO tt VALUES (1)", "DROP TEMPORARY TABLE tt", "BEGIN", "COMMIT")},
	{name: "transaction state", steps: queries("SET session_track_transaction_info = 'STATE'", "BEGIN", "SELECT COUNT(*) FROM few", "INSERT INTO few VALUES (1, 'x')", "COMMIT", "SET autocommit = 0", "SELECT 1", "COMMIT", "SET autocommit = 1")},
	{name: "transaction state, INSERT first", steps: queries("SET session_track_transaction_info = 'STATE'", "SET sql_mode = ''", "BEGIN", "INSERT INTO few VALUES (1, 'x')", "ROLLBACK")},
	{name: "transaction characteristics", steps: queries("SET session_track_transaction_info = 'CHARACTERISTICS'", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "START TRANSACTION READ ONLY", "COMMIT", "SET SESSION TRANSACTION READ WRITE", "BEGIN", "INSERT INTO few VALUES (1, 'x')", "ROLLBACK AND CHAIN", "ROLLBACK")},
	{name: "GTIDs", only: "mysql", steps: []step{query("SET session_track_gtids = 'OWN_GTID'"), query("CREATE TEMPORARY TABLE tt (a INT)")}},
	{name: "in a text of several", steps: queries("SET NAMES latin1; USE mysql; SELECT 1; SET NAMES utf8mb4; USE {db}", "SET @a = 1; SET autocommit = 0; INSERT INTO few VALUES (1, 'x')", "SET autocommit = 1; INSERT INTO few VALUES (2, 'y')")},
	{name: "in a text that is taken apart", steps: queries("CREATE TABLE apart (a INT)", "SET time_zone = '+02:00'; INSERT INTO apart VALUES (1); SET time_zone = '+03:00'; SELECT * FROM apart", "DROP TABLE apart")},
	{name: "at the end of rows", steps: queries("SET session_track_transaction_info = 'STATE'", "BEGIN", "SELECT * FROM few", "SELECT * FROM few FOR UPDATE", "COMMIT")},
	{name: "of prepared statements", steps: []step{prepare("SET time_zone = ?"), execute(1, noCursor, text("+05:00")), prepare("SET NAMES latin1"), execute(2, noCursor)}},
	{name: "of RESET_CONNECTION", steps: []step{query("SET time_zone = '+01:00'"), command(comResetConnection, ""), query("SET time_zone = '+02:00'")}},
	{name: "switched off", steps: queries("SET session_track_schema = 0, session_track_system_variables = ''", "USE mysql", "SET NAMES latin1")},
	{name: "without the flag", login: login{flags: modernFlags &^ sessionTrack}, steps: queries("SET autocommit = 0", "USE mysql", "SET time_zone = '+01:00'", "CREATE DATABASE IF NOT EXISTS mysql")},
}
