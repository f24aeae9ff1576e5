package wiretest

import (
	"fmt"
	"strings"
)

// bulky is what MariaDB's drivers ask for.
var bulky = variant{"bulk", extendedFlags | deprecateEOF | bulkOperations | extendedMetadata | cacheMetadata | progress}

// bulkTable makes the case's own table, and its sequence, which goes on with the id next. To the server alone the second
// means nothing.
func bulkTable(columns, next string) []step {
	return queries("CREATE TABLE {table} ("+columns+")",
		"CREATE TABLE {table}_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		"INSERT INTO {table}_seq VALUES (0, "+next+", 100)")
}

// onBulkTable runs steps on a new table, whose sequence gives the ids that its
// AUTO_INCREMENT gives, and asks then what a client can see.
func onBulkTable(name string, before []string, next string, steps ...step) wireCase {
	all := newBulkTable(before, next)
	all = append(all, steps...)
	all = append(all, queries("SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT * FROM {table} ORDER BY id", "SELECT LAST_INSERT_ID()", "DROP TABLE {table}")...)
	return wireCase{name: name, only: "mariadb", steps: all}
}

// withOtherIDs is onBulkTable where rows are left out, for which a native column takes no id: it is asked whether the
// insert id is that of the row b, which is the first that goes in.
func withOtherIDs(name string, before []string, next string, steps ...step) wireCase {
	all := newBulkTable(before, next)
	for _, s := range steps {
		if len(s.label) > 4 && s.label[:4] == "BULK" {
			s.mask = onlyKinds
		}
		all = append(all, s)
	}
	all = append(all, queries("SELECT u, LAST_INSERT_ID() = id, @@identity = id FROM {table} WHERE u = 'b'", "SELECT u, n FROM {table} ORDER BY u", "DROP TABLE {table}")...)
	return wireCase{name: name, only: "mariadb", steps: all}
}

func newBulkTable(before []string, next string) []step {
	all := bulkTable("id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n INT DEFAULT 7", next)
	all = append(all, queries(before...)...)
	return append(all, query("SELECT LAST_INSERT_ID(777)"))
}

var (
	oneText    = []uint16{typeVarchar}
	idAndText  = []uint16{typeLongLong, typeVarchar}
	tinyID     = []uint16{typeTiny, typeVarchar}
	textID     = []uint16{typeVarchar, typeVarchar}
	nothingYet []string
)

func tiny(n byte) param { return param{value: string([]byte{n})} }

// bulkCases execute a prepared statement for many rows at once. Those on a table with a
// sequence are filled by seqgate, and by the server's own AUTO_INCREMENT directly.
var bulkCases = []wireCase{
	onBulkTable("column omitted", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")), bulkRow(text("c")))),
	onBulkTable("one row", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")))),
	onBulkTable("no column list", nothingYet, "1", prepare("INSERT INTO {table} VALUES (?, ?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeLongLong, typeVarchar, typeLongLong}, bulkRow(markNull, text("a"), integer(1)), bulkRow(markDefault, text("b"), markDefault))),
	onBulkTable("every way to leave it open", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(markNull, text("a")), bulkRow(markDefault, text("b")), bulkRow(markIgnore, text("c")), bulkRow(integer(0), text("d")))),
	onBulkTable("id in the middle", nothingYet, "1", prepare("INSERT INTO {table} (n, id, u) VALUES (?, ?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeTiny, typeTiny, typeVarchar}, bulkRow(tiny(1), tiny(0), text("a")), bulkRow(tiny(2), markNull, text("b")))),
	onBulkTable("omitted between others", nothingYet, "1", prepare("INSERT INTO {table} (u, n) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeVarchar, typeTiny}, bulkRow(text("a"), markDefault), bulkRow(markNull, markNull), bulkRow(text("c"), tiny(5)))),
	onBulkTable("several rows in the text", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?), (?)"),
		bulk(1, bulkSendTypes, []uint16{typeVarchar, typeVarchar}, bulkRow(text("a"), text("b")), bulkRow(text("c"), text("d")))),
	onBulkTable("several rows in the text, of several kinds", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (NULL, ?), (?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeVarchar, typeTiny, typeVarchar}, bulkRow(text("a"), tiny(0), text("b")), bulkRow(text("c"), markNull, text("d")))),
	onBulkTable("SET", nothingYet, "1", prepare("INSERT INTO {table} SET n = 3, u = ?"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("explicit ids", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(integer(100), text("a")), bulkRow(integer(200), text("b")))),
	onBulkTable("one explicit id", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"), bulk(1, bulkSendTypes, idAndText, bulkRow(integer(100), text("a")))),
	onBulkTable("open, then explicit", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(markNull, text("a")), bulkRow(integer(300), text("b")))),
	onBulkTable("explicit, then open", []string{"INSERT INTO {table} (id, u) VALUES (9, 'x')"}, "10", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, tinyID, bulkRow(tiny(3), text("a")), bulkRow(markNull, text("b")), bulkRow(tiny(0), text("c")))),
	onBulkTable("small negative", []string{"INSERT INTO {table} (id, u) VALUES (9, 'x')"}, "10", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, tinyID, bulkRow(tiny(0xff), text("a")), bulkRow(markNull, text("b")))),
	onBulkTable("ids as text", []string{"INSERT INTO {table} (id, u) VALUES (9, 'x')"}, "10", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, textID, bulkRow(text("3"), text("a")), bulkRow(text("0"), text("b")), bulkRow(markNull, text("c")))),
	onBulkTable("ids of no type", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeNull, typeVarchar}, bulkRow(markNull, text("a")), bulkRow(markNull, text("b")))),
	onBulkTable("ids of a date's type, all open", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeDatetime, typeVarchar}, bulkRow(markNull, text("a")), bulkRow(markNull, text("b")))),
	onBulkTable("unsigned ids", []string{"INSERT INTO {table} (id, u) VALUES (9, 'x')"}, "10", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, []uint16{typeTiny | unsignedBit, typeVarchar}, bulkRow(tiny(5), text("a")), bulkRow(tiny(0), text("b")))),
	onBulkTable("REPLACE", []string{"INSERT INTO {table} (id, u) VALUES (5, 'a')"}, "6", prepare("REPLACE INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	withOtherIDs("IGNORE, duplicate, new, duplicate", []string{"INSERT INTO {table} (id, u) VALUES (1, 'a'), (2, 'c')"}, "3", prepare("INSERT IGNORE INTO {table} (u) VALUES (?)"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")), bulkRow(text("c"))), query("SHOW WARNINGS")),
	onBulkTable("IGNORE, all duplicates", []string{"INSERT INTO {table} (id, u) VALUES (1, 'a'), (2, 'c')"}, "3", prepare("INSERT IGNORE INTO {table} (u) VALUES (?)"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("c"))), query("SHOW WARNINGS")),
	onBulkTable("IGNORE, all new", nothingYet, "1", prepare("INSERT IGNORE INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("c")))),
	onBulkTable("ON DUPLICATE KEY, all new", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?) ON DUPLICATE KEY UPDATE n = n + 1"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("ON DUPLICATE KEY, all changed", []string{"INSERT INTO {table} (id, u) VALUES (1, 'a'), (2, 'c')"}, "3", prepare("INSERT INTO {table} (u) VALUES (?) ON DUPLICATE KEY UPDATE n = n + 1"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("c")))),
	onBulkTable("ON DUPLICATE KEY, all unchanged", []string{"INSERT INTO {table} (id, u) VALUES (1, 'a'), (2, 'c')"}, "3", prepare("INSERT INTO {table} (u) VALUES (?) ON DUPLICATE KEY UPDATE n = 7"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("c")))),
	withOtherIDs("ON DUPLICATE KEY, existing, new", []string{"INSERT INTO {table} (id, u) VALUES (1, 'a')"}, "2", prepare("INSERT INTO {table} (u) VALUES (?) ON DUPLICATE KEY UPDATE n = n + 1"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("ON DUPLICATE KEY, explicit new", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(integer(5), text("a")), bulkRow(integer(6), text("b")))),
	onBulkTable("ON DUPLICATE KEY, explicit existing", []string{"INSERT INTO {table} (id, u) VALUES (5, 'a'), (6, 'b')"}, "7", prepare("INSERT INTO {table} (id, u) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(integer(5), text("c")), bulkRow(integer(8), text("b")))),
	onBulkTable("duplicate in the first row", []string{"INSERT INTO {table} (id, u) VALUES (5, 'a')"}, "6", prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("LAST_INSERT_ID() as a value", nothingYet, "1", prepare("INSERT INTO {table} (u, n) VALUES (?, LAST_INSERT_ID())"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("NO_AUTO_VALUE_ON_ZERO", []string{"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"}, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"),
		bulk(1, bulkSendTypes, idAndText, bulkRow(integer(0), text("a")), bulkRow(markNull, text("b")))),
	onBulkTable("without types", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, 0, nil, bulkRow(text("a"))), execute(1, noCursor, text("a")), bulk(1, 0, nil, bulkRow(text("b")))),
	onBulkTable("without types, explicit and open in turns", []string{"INSERT INTO {table} (id, u) VALUES (50, 'x')"}, "51", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"), execute(1, noCursor, integer(2), text("a")),
		bulk(1, 0, nil, bulkRow(integer(3), text("b"))), bulk(1, 0, nil, bulkRow(markNull, text("c"))), bulk(1, 0, nil, bulkRow(integer(4), text("d"))), executeAgain(1, integer(5), text("e"))),
	onBulkTable("the latest statement", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(latestStmt, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b")))),
	onBulkTable("prepared and executed at once", nothingYet, "1", pipelined(prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(latestStmt, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b"))))),
	onBulkTable("the latest one failed", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"), pipelined(prepare("INSERT INTO {table} (nosuch) VALUES (?)"), bulk(latestStmt, bulkSendTypes, oneText, bulkRow(text("a"))))),
	onBulkTable("long data", nothingYet, "1", prepare("INSERT INTO {table} (id, u) VALUES (?, ?)"), longData(1, 1, "long"), bulk(1, bulkSendTypes, idAndText, bulkRow(markNull, text("a"))),
		execute(1, noCursor, integer(0), text("b"))),
	{name: "malformed", only: "mariadb", steps: append(newBulkTable(nothingYet, "1"), prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText), bulk(1, bulkSendTypes, nil), bulk(1, bulkSendTypes, oneText, "\x00\x05a"),
		bulk(1, bulkSendTypes, oneText, "\x07\x01a"), bulk(1, bulkSendTypes, oneText, "\x00"), stmtCommand(comStmtBulkExecute, 1, "").reads(results), stmtCommand(comStmtBulkExecute, 1, "\x80").reads(results),
		query("SELECT * FROM {table}"), query("DROP TABLE {table}"))},
	onBulkTable("no parameters", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES ('a')"), bulk(1, bulkSendTypes, nil), bulk(1, 0, nil, "\x00")),
	onBulkTable("results for each row", nothingYet, "1", prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes|bulkUnitResults, oneText, bulkRow(text("a")))),
	onBulkTable("other statements", nothingYet, "1", prepare("SELECT ?"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a"))), prepare("UPDATE {table} SET u = ?"), bulk(2, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b"))),
		prepare("DELETE FROM {table} WHERE u = ?"), bulk(3, bulkSendTypes, oneText, bulkRow(text("a"))), bulk(9, bulkSendTypes, oneText, bulkRow(text("a"))), prepare("DO ?"), bulk(4, bulkSendTypes, oneText, bulkRow(text("a"))),
		prepare("INSERT INTO few VALUES (?, ?)"), bulk(5, bulkSendTypes, idAndText, bulkRow(integer(1), text("a")))),
	{name: "1000 rows", only: "mariadb", steps: append(bulkTable("id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)", "1"), prepare("INSERT INTO {table} (u) VALUES (?)"),
		bulk(1, bulkSendTypes, oneText, strings.Repeat(bulkRow(text("a")), 1000)), query("SELECT LAST_INSERT_ID(), (SELECT MIN(id) FROM {table}), (SELECT MAX(id) FROM {table})"), query("DROP TABLE {table}"))},
	{name: "more than 16 MiB", only: "mariadb", steps: append(bulkTable("id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB", "1"), prepare("INSERT INTO {table} (b) VALUES (?)"),
		largeBulk(1, 9<<20), query("SELECT LAST_INSERT_ID()"), query("SELECT id, MD5(b) FROM {table}"), largeBulk(1, 11<<20).masked(onlyKinds))},
	{name: "table without a sequence", only: "mariadb", steps: []step{query("CREATE TABLE plain (id INT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20))"), prepare("INSERT INTO plain (u) VALUES (?)"),
		bulk(1, bulkSendTypes, oneText, bulkRow(text("a")), bulkRow(text("b"))), query("SELECT LAST_INSERT_ID()"), bulk(1, 0, nil, bulkRow(text("c"))),
		prepare("INSERT INTO plain (u) VALUES (?) RETURNING id, u"), bulk(2, bulkSendTypes, oneText, bulkRow(text("r")), bulkRow(text("s"))), bulk(2, 0, nil, bulkRow(text("t"))),
		query("SELECT * FROM plain"), query("DROP TABLE plain")}},
	{name: "without the flag", only: "mariadb", login: login{flags: modernFlags}, steps: append(bulkTable("id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)", "1"),
		prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a"))), query("SELECT * FROM {table}"), query("DROP TABLE {table}"))},
	{name: "of a server that does not know it", only: "mysql", steps: append(bulkTable("id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)", "1"),
		prepare("INSERT INTO {table} (u) VALUES (?)"), bulk(1, bulkSendTypes, oneText, bulkRow(text("a"))), query("SELECT * FROM {table}"), query("DROP TABLE {table}"))},
}

// largeBulk is a bulk of two rows of n bytes each.
func largeBulk(stmt uint32, n int) step {
	s := bulk(stmt, bulkSendTypes, []uint16{typeBlob})
	s.label = fmt.Sprintf("BULK of 2 * %d bytes", n)
	s.send = func(r *run, c *client) []byte {
		row := bulkRow(text(strings.Repeat("x", n)))
		return bulk(stmt, bulkSendTypes, []uint16{typeBlob}, row, row).send(r, c)
	}
	return s
}
