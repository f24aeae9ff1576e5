package wiretest

import "time"

// malformedCases break the rules of packets.
var malformedCases = []wireCase{
	{name: "empty command", steps: []step{rawBytes("an empty packet", []byte{0, 0, 0, 0})}},
	{name: "QUERY with sequence number 1", steps: []step{rawBytes("QUERY numbered 1", frame(1, []byte("\x03\x00\x01SELECT 1"))).reads(results)}},
	{name: "INSERT with sequence number 1", steps: []step{rawBytes("INSERT numbered 1", frame(1, []byte("\x03\x00\x01INSERT INTO few VALUES (1, 'x')"))).reads(results)}},
	{name: "PING with sequence number 7", steps: []step{rawBytes("PING numbered 7", frame(7, []byte{comPing}))}},
	{name: "PING with sequence number 255", steps: []step{rawBytes("PING numbered 255", frame(255, []byte{comPing}))}},
	{name: "INIT_DB with sequence number 1", steps: []step{rawBytes("INIT_DB numbered 1", frame(1, []byte("\x02mysql")))}},
	{name: "SET_OPTION with sequence number 1", steps: []step{rawBytes("SET_OPTION numbered 1", frame(1, []byte("\x1b\x01\x00")))}},
	{name: "PREPARE with sequence number 1", steps: []step{rawBytes("PREPARE numbered 1", frame(1, []byte("\x16SELECT 1"))).reads(prepared)}},
	{name: "EXECUTE with sequence number 1", steps: []step{prepare("INSERT INTO few VALUES (1, 'x')"), rawBytes("EXECUTE numbered 1", frame(1, []byte("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00"))).reads(results)}},
	{name: "query attributes cut", only: "mysql", steps: []step{command(comQuery, "\x01").reads(results), command(comQuery, "\x01\x01\x00").reads(results)}},
	{name: "query attributes of a huge number", only: "mysql", steps: []step{command(comQuery, "\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x01SELECT 1").reads(results)}},
	{name: "query attributes without their number", only: "mysql", steps: []step{command(comQuery, "").reads(results)}},
	{name: "query attributes without types", only: "mysql", steps: []step{command(comQuery, "\x01\x01\x00\x00SELECT 1").reads(results)}},
	{name: "QUERY without a text", login: login{flags: classicFlags}, steps: []step{command(comQuery, "").reads(results)}},
	{name: "half a command, then gone", steps: []step{connect("b", login{}), query("CREATE TABLE half (a INT)"), sent(rawBytes("half an INSERT", frame(0, []byte("\x03\x00\x01INSERT INTO half VALUES (1)"))[:20])), disconnect(),
		query("SELECT * FROM half").on("b"), query("DROP TABLE half").on("b")}},
	{name: "half a header, then gone", steps: []step{connect("b", login{}), sent(rawBytes("half a header", []byte{5, 0})), disconnect(), query("SELECT 1").on("b")}},
	{name: "continuation that does not come", patience: time.Second, steps: []step{halfOfMany()}},
}

// halfOfMany is a packet that says that another continues it.
func halfOfMany() step {
	s := rawBytes("a full packet alone", nil)
	s.send = func(*run, *client) []byte { return frame(0, make([]byte, maxPayload))[:headerSize+maxPayload] }
	return s
}
