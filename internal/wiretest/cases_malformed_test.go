package wiretest

import (
	"strings"
	"time"
)

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
	{name: "NEXT VALUE with sequence number 1", steps: []step{rawBytes("NEXT VALUE numbered 1", frame(1, []byte("\x03\x00\x01SELECT NEXT VALUE FROM nosuch_seq"))).reads(results)}},
	{name: "empty commands between others", steps: []step{pipelined(rawBytes("an empty packet", []byte{0, 0, 0, 0}), command(comPing, ""), rawBytes("an empty packet", []byte{0, 0, 0, 0}), query("SELECT 1"))}},
	{name: "empty packet with sequence number 1", steps: []step{rawBytes("an empty packet numbered 1", []byte{0, 0, 0, 1}).reads(hangup)}},
	{name: "continuation with a wrong number", steps: []step{continuedAs(5, "SELECT 1 -- ")}},
	{name: "continuation of an INSERT with a wrong number", steps: []step{continuedAs(5, "INSERT INTO few VALUES (9, 'x') -- ")}},
	{name: "INSERT behind an empty statement", steps: queries(";INSERT INTO few VALUES (77, 'x')", " ; 0; INSERT INTO few VALUES (77, 'x')", "SELECT COUNT(*) FROM few")},
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

// continuedAs is a text of one full packet, which an empty one with this number continues.
func continuedAs(number byte, begin string) step {
	s := rawBytes("continuation numbered wrong: "+begin, nil).reads(hangup)
	s.send = func(_ *run, c *client) []byte {
		b := c.queryPayload(begin)
		return append(frame(0, append(b, strings.Repeat("x", maxPayload-len(b))...))[:headerSize+maxPayload], 0, 0, 0, number)
	}
	return s
}

// halfOfMany is a packet that says that another continues it.
func halfOfMany() step {
	s := rawBytes("a full packet alone", nil)
	s.send = func(*run, *client) []byte { return frame(0, make([]byte, maxPayload))[:headerSize+maxPayload] }
	return s
}
