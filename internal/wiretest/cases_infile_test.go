package wiretest

import (
	"strings"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// infileCases are about LOAD DATA LOCAL: the server asks for a file in the middle of its answer.
var infileCases = []wireCase{
	loadCase("accepted", loadData.withFile("1,a\n2,b\n")),
	loadCase("in several packets", loadData.withFile("1,a\n2,", "b\n3", ",c\n")),
	loadCase("empty", loadData.withFile()),
	loadCase("of empty rows", loadData.withFile("\n\n")),
	loadCase("with warnings", loadData.withFile("1\n2,b,c\nx,y\n"), query("SHOW WARNINGS")),
	loadCase("with a duplicate", loadData.withFile("1,a\n1,b\n2,c\n"), query("SHOW WARNINGS")),
	loadCase("that fails half-way", query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded FIELDS TERMINATED BY ',' (id, s) SET s = IF(id = 500, (SELECT n FROM nums), s)").
		withFile(repeated("400,a\n", 3000), "500,x\n", repeated("600,b\n", 3000))),
	loadCase("of 300 packets", loadData.withFile(strings.Split(strings.TrimSuffix(repeated("7,seven\n|", 300), "|"), "|")...)),
	loadCase("of 1 MiB", loadData.withFile("1,"+strings.Repeat("m", 1<<20)+"\n")),
	{name: "of a packet of 16 MiB - 1", patience: 3 * time.Second, login: login{flags: modernFlags}, steps: []step{query("CREATE TABLE loaded_full (id INT, s LONGTEXT)"),
		query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded_full FIELDS TERMINATED BY ','").withFile("1,"+strings.Repeat("m", maxPayload-3)+"\n", "2,b\n"),
		query("DROP TABLE loaded_full")}},
	loadCase("of nothing but full packets", query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded FIELDS TERMINATED BY ','").
		withFile("1,"+strings.Repeat("m", maxPayload-3)+"\n", "2,"+strings.Repeat("n", maxPayload-3)+"\n")),
	loadCase("into an unknown table", query("LOAD DATA LOCAL INFILE 'f' INTO TABLE nosuch").withFile("1\n")),
	loadCase("with an unknown column", query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded (nosuch)").withFile("1\n")),
	loadCase("of an unknown server file", query("LOAD DATA INFILE '/nosuch/file' INTO TABLE loaded")),
	loadCase("REPLACE and IGNORE", query("LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE loaded FIELDS TERMINATED BY ','").withFile("1,a\n1,b\n"),
		query("LOAD DATA LOCAL INFILE 'f' IGNORE INTO TABLE loaded FIELDS TERMINATED BY ',' IGNORE 1 LINES").withFile("head\n1,c\n2,d\n")),
	loadCase("XML", query("LOAD XML LOCAL INFILE 'f' INTO TABLE loaded ROWS IDENTIFIED BY '<r>'").withFile("<x><r id=\"5\"><s>five</s></r></x>")),
	loadCase("twice", loadData.withFile("1,a\n"), loadData.withFile("2,b\n")),
	{name: "pipelined with the next command", patience: 2 * time.Second, login: login{flags: modernFlags}, steps: []step{query("CREATE TABLE loaded_piped (id INT, s TEXT)"),
		pipelined(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded_piped"), query("SELECT 1")).withFile("1\ta\n")}},
	{name: "client goes away half-way", steps: []step{
		connect("b", login{}), query("CREATE TABLE broken (id INT, s TEXT)"), query("LOAD DATA LOCAL INFILE 'f' INTO TABLE broken").withFile("1\ta\n").thenGone(),
		await("SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM " + servertest.Processlist + " WHERE DB = '{db}' AND INFO LIKE 'LOAD%' AND ID <> CONNECTION_ID())").on("b"),
		query("SELECT COUNT(*) FROM broken").on("b"), query("DROP TABLE broken").on("b")}},
	{name: "client goes away in a packet", steps: []step{
		connect("b", login{}), query("CREATE TABLE torn (id INT, s TEXT)"), sent(pipelined(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE torn"), halfAFile())),
		await("SELECT 1 FROM " + servertest.Processlist + " WHERE DB = '{db}' AND INFO LIKE 'LOAD%' AND ID <> CONNECTION_ID()").on("b"), disconnect(),
		await("SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM " + servertest.Processlist + " WHERE DB = '{db}' AND INFO LIKE 'LOAD%' AND ID <> CONNECTION_ID())").on("b"),
		query("SELECT COUNT(*) FROM torn").on("b"), query("DROP TABLE torn").on("b")}},
	{name: "session killed while the file is awaited", login: login{flags: modernFlags}, steps: []step{
		connect("b", login{}), learnID(), query("CREATE TABLE awaited (id INT, s TEXT)"), query("LOAD DATA LOCAL INFILE 'f' INTO TABLE awaited").reads(one),
		query("KILL {cid:}").on("b"), answer(hangup), query("DROP TABLE awaited").on("b")}},
	{name: "session killed in the middle of the file", login: login{flags: modernFlags}, steps: []step{
		connect("b", login{}), learnID(), query("CREATE TABLE begun (id INT, s TEXT)"), query("LOAD DATA LOCAL INFILE 'f' INTO TABLE begun").reads(one),
		sent(rawBytes("a file's first packet", frame(2, []byte("1\ta\n")))), query("KILL {cid:}").on("b"), answer(hangup), query("DROP TABLE begun").on("b")}},
	{name: "pipelined with its file", login: login{flags: modernFlags}, steps: []step{query("CREATE TABLE hasty (id INT, s TEXT)"),
		pipelined(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE hasty").reads(one), rawBytes("the file", append(frame(2, []byte("1\ta\n")), frame(3, nil)...)), query("SELECT * FROM hasty")),
		query("DROP TABLE hasty")}},
}

// halfAFile is a file's first packet and the half of its second.
func halfAFile() step {
	return rawBytes("half a file", append(frame(2, []byte("1\ta\n2\tb\n")), frame(3, []byte("3\tc\n"))[:headerSize+2]...))
}

var loadData = query("LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded FIELDS TERMINATED BY ','")

// loadCase loads into a table of its own, and looks what came of it.
func loadCase(name string, steps ...step) wireCase {
	all := []step{query("CREATE TABLE loaded (id INT PRIMARY KEY, s LONGTEXT)")}
	all = append(all, steps...)
	return wireCase{name: name, steps: append(all, query("SELECT id, LEFT(s, 10), LENGTH(s) FROM loaded"), query("DROP TABLE loaded"))}
}
