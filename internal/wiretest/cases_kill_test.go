package wiretest

import (
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// busy awaits that client b's statement is under way.
const busy = "SELECT 1 FROM " + servertest.Processlist + " WHERE ID = {cid:b} AND STATE LIKE 'User %'"

// gone awaits that client b's session has ended.
const gone = "SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM " + servertest.Processlist + " WHERE ID = {cid:b})"

// killCases are about KILL, by the id of the greeting and by CONNECTION_ID().
var killCases = []wireCase{
	{name: "KILL QUERY by CONNECTION_ID()", steps: killing(query("KILL QUERY {cid:b}"))},
	{name: "KILL QUERY by the greeting's id", steps: killing(query("KILL QUERY {id:b}"))},
	{name: "KILL by CONNECTION_ID()", steps: killing(query("KILL {cid:b}"))},
	{name: "KILL by the greeting's id", steps: killing(query("KILL {id:b}"))},
	{name: "KILL CONNECTION by the greeting's id", steps: killing(query("KILL CONNECTION {id:b}"))},
	{name: "KILL in a comment's company", steps: killing(query("/* stop */ KILL /* it */ QUERY {id:b} -- now"))},
	{name: "KILL QUERY in a text of several", steps: killing(query("SELECT 1; KILL QUERY {id:b}; SELECT 2"))},
	{name: "KILL QUERY by an expression", steps: killing(query("KILL QUERY {id:b} + 0"))},
	{name: "KILL QUERY by a variable", steps: killing(query("SET @id = {id:b}"), query("KILL QUERY @id"))},
	{name: "KILL QUERY prepared", steps: killing(prepare("KILL QUERY {id:b}"), execute(1, noCursor))},
	{name: "KILL QUERY in a text of PREPARE", steps: killing(query("PREPARE k FROM 'KILL QUERY {id:b}'"), query("EXECUTE k"))},
	{name: "KILL HARD and USER", only: "mariadb", steps: killing(query("KILL HARD QUERY {id:b}"))},
	{name: "KILL QUERY ID", only: "mariadb", steps: queries("KILL QUERY ID 999999999")},
	{name: "PROCESS_KILL by the greeting's id", only: "mariadb", steps: []step{connect("b", login{}), learnID().on("b"), killByProcess("b"), await(gone), query("SELECT 1").on("b")}},
	{name: "KILL of oneself", steps: []step{learnID(), query("KILL {cid:}"), query("SELECT 1")}},
	{name: "KILL of oneself by the greeting's id", steps: queries("KILL {id:}", "SELECT 1")},
	{name: "KILL QUERY of oneself", steps: queries("KILL QUERY CONNECTION_ID()", "SELECT 1")},
	{name: "KILL of nobody", steps: queries("KILL 999999999", "KILL QUERY 999999999", "KILL", "KILL 'x'", "KILL 99999999999999999999", "KILL 2147483649", "KILL 4294967295")},
	{name: "KILL QUERY in the middle of rows", steps: []step{
		connect("b", login{}), learnID().on("b"), sent(query("SELECT n, REPEAT('r', 1000), IF(n = 1000, SLEEP(20), 0) FROM nums ORDER BY n")).on("b"), await(busy), query("KILL QUERY {cid:b}"),
		answer(results).on("b").masked(onlyEnds), query("SELECT 'in step'").on("b")}},
	{name: "KILL in the middle of rows", steps: []step{
		connect("b", login{}), learnID().on("b"), sent(query("SELECT n, REPEAT('r', 1000), IF(n = 1000, SLEEP(20), 0) FROM nums ORDER BY n")).on("b"), await(busy), query("KILL {cid:b}"),
		answer(results).on("b").masked(onlyKinds), query("SELECT 1").on("b")}},
	{name: "KILL QUERY of a prepared statement", steps: []step{
		connect("b", login{}), learnID().on("b"), prepare("SELECT SLEEP(?)").on("b"), sent(execute(1, noCursor, integer(20))).on("b"), await(busy), query("KILL QUERY {cid:b}"),
		answer(results).on("b"), query("SELECT 'in step'").on("b")}},
	{name: "KILL in a transaction", steps: []step{
		query("CREATE TABLE killed (a INT)"), connect("b", login{}), learnID().on("b"), query("BEGIN").on("b"), query("INSERT INTO killed VALUES (1)").on("b"), query("KILL {cid:b}"), await(gone), query("SELECT * FROM killed"), query("DROP TABLE killed")}},
	{name: "KILL of an idle client is seen at once", patience: 2 * time.Second, steps: []step{connect("b", login{}), learnID().on("b"), query("KILL {cid:b}"), answer(hangup).on("b")}},
	{name: "KILL of a locked statement", steps: []step{
		query("SELECT GET_LOCK('k_{db}', 0)"), connect("b", login{}), learnID().on("b"), sent(query("SELECT GET_LOCK('k_{db}', 20), 'SLEEP'")).on("b"), await(busy), query("KILL QUERY {cid:b}"), answer(results).on("b")}},
}

// killing has client b sleep, does the steps, and reads what came of b.
func killing(steps ...step) []step {
	all := []step{connect("b", login{}), learnID().on("b"), sent(query("SELECT SLEEP(20)")).on("b"), await(busy)}
	all = append(all, steps...)
	return append(all, rescue(), answer(results).on("b"), query("SELECT 'in step'").on("b"))
}

// rescue wakes client b when the KILL before was refused.
func rescue() step {
	return step{label: "rescue b", act: func(r *run, c *client) error {
		last := r.trace[len(r.trace)-1].packets
		if len(last) == 0 || last[len(last)-1].head[0] != 0xff {
			return nil
		}
		_, err := c.Write(frame(0, c.queryPayload(r.expand("KILL QUERY {cid:b}"))))
		if err == nil {
			_, err = c.next()
		}
		return err
	}}
}

// killByProcess is COM_PROCESS_KILL of the client of that name, by its greeting's id.
func killByProcess(name string) step {
	s := command(comProcessKill, "")
	s.label = "PROCESS_KILL of " + name
	s.send = func(r *run, _ *client) []byte {
		return frame(0, append([]byte{comProcessKill}, number(r.clients[name].greeting.id)...))
	}
	return s
}
