package wiretest

import "strings"

// largeCases are about payloads that fill packets and buffers, both ways.
var largeCases = []wireCase{
	{name: "text around 16 KiB", steps: []step{longQuery("SELECT LENGTH('", 16<<10-16, "')"), longQuery("SELECT LENGTH('", 16<<10-15, "')"), longQuery("SELECT LENGTH('", 16<<10, "')"), longQuery("SELECT /* long */ LENGTH('", 16<<10, "')"), longQuery("SELECT LENGTH('", 64<<10, "')")}},
	{name: "INSERT around 64 KiB", steps: []step{query("CREATE TABLE big (b LONGTEXT)"), longQuery("INSERT INTO big VALUES ('", 64<<10-30, "')"), longQuery("INSERT INTO big VALUES ('", 128<<10, "')"), query("SELECT LENGTH(b) FROM big"), query("DROP TABLE big")}},
	{name: "70,000 columns", steps: []step{query("SELECT 1" + strings.Repeat(",1", 69_999)), prepare("SELECT 1" + strings.Repeat(",1", 69_999))}},
	{name: "text of 16 MiB - 1", steps: []step{exactQuery(maxPayload)}},
	{name: "text of 16 MiB - 2", steps: []step{exactQuery(maxPayload - 1)}},
	{name: "text of 16 MiB", steps: []step{exactQuery(maxPayload + 1)}},
	{name: "text of 16 MiB + 1", steps: []step{exactQuery(maxPayload + 2)}},
	{name: "INSERT of 16 MiB", steps: []step{query("SET sql_log_bin = 0"), query("CREATE TABLE big (b LONGTEXT)"), longQuery("INSERT INTO big VALUES ('", 16<<20, "')"), query("SELECT LENGTH(b) FROM big"), query("DROP TABLE big")}},
	{name: "row of 16 MiB - 1", steps: queries("SELECT REPEAT('r', 16777215 - 4)")},
	{name: "row of 16 MiB - 2", steps: queries("SELECT REPEAT('r', 16777214 - 4)")},
	{name: "row of 16 MiB", steps: queries("SELECT REPEAT('r', 16777216 - 9)")},
	{name: "row of 16 MiB + 1", steps: queries("SELECT REPEAT('r', 16777217 - 9), 'next'")},
	{name: "row that begins with 0xfe", steps: queries("SELECT REPEAT('r', 16777216), 'a' UNION ALL SELECT 'b', 'c'")},
	{name: "row that begins with 0xfe, EOF", login: login{flags: classicFlags}, steps: queries("SELECT REPEAT('r', 16777216), 'a' UNION ALL SELECT 'b', 'c'")},
	{name: "row of 16 MiB, binary", steps: []step{prepare("SELECT REPEAT('r', ?), 'next'"), execute(1, noCursor, integer(maxPayload-12)), execute(1, noCursor, integer(16<<20))}},
	{name: "parameter of 16 MiB", steps: []step{prepare("SELECT LENGTH(?)"), longParam(maxPayload - 20), longParam(16 << 20)}},
	{name: "long data of 16 MiB", steps: []step{prepare("SELECT LENGTH(?)"), longData(1, 0, strings.Repeat("l", 9<<20)), longData(1, 0, strings.Repeat("l", 9<<20)), execute(1, noCursor, param{kind: typeBlob, long: true})}},
	{name: "result beyond max_allowed_packet", steps: queries("SELECT LENGTH(REPEAT('r', 20971521))", "SHOW WARNINGS", "SELECT REPEAT('r', 20971520)")},
	{name: "text of max_allowed_packet", steps: []step{exactQuery(maxAllowedPacket - 1)}},
	{name: "text beyond max_allowed_packet", steps: []step{exactQuery(maxAllowedPacket + 1)}},
	{name: "INSERT beyond max_allowed_packet", steps: []step{longQuery("INSERT INTO few VALUES (9, '", maxAllowedPacket, "')")}},
	{name: "PREPARE beyond max_allowed_packet", steps: []step{longPrepare(maxAllowedPacket)}},
	{name: "long data beyond max_allowed_packet", steps: []step{prepare("SELECT LENGTH(?)"), longData(1, 0, strings.Repeat("l", 15<<20)), longData(1, 0, strings.Repeat("l", 15<<20)), execute(1, noCursor, param{kind: typeBlob, long: true})}},
	{name: "PING of 1 MiB", steps: []step{command(comPing, strings.Repeat("p", 1<<20))}},
	{name: "PREPARE of 1 MiB", steps: []step{longPrepare(1 << 20), execute(1, noCursor)}},
	{name: "10000 rows", steps: queries("SELECT a.n, b.n FROM nums a, nums b WHERE b.n <= 10 ORDER BY a.n, b.n")},
}

// exactQuery is a COM_QUERY of a payload of size bytes.
func exactQuery(size int) step {
	s := longQuery("SELECT LENGTH('", size, "')")
	s.send = func(_ *run, c *client) []byte {
		const begin, end = "SELECT LENGTH('", "')"
		head := c.queryPayload(begin)
		return frame(0, append(append(head, strings.Repeat("x", size-len(head)-len(end))...), end...))
	}
	return s
}

func longPrepare(n int) step {
	s := prepare("SELECT LENGTH")
	s.send = func(*run, *client) []byte {
		return frame(0, append([]byte{comStmtPrepare}, "SELECT LENGTH('"+strings.Repeat("x", n)+"')"...))
	}
	return s
}

// longParam executes statement 1 with a text of n bytes.
func longParam(n int) step {
	s := execute(1, noCursor)
	s.label = "EXECUTE 1 with a long text"
	s.send = func(_ *run, c *client) []byte {
		return frame(0, c.executePayload(1, noCursor, true, []param{text(strings.Repeat("p", n))}))
	}
	return s
}
