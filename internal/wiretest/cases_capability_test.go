package wiretest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// extendedFlags is what a client of MariaDB's own asks for, the least changing ones
// left out. Its lowest bit must not be set.
const extendedFlags = classicFlags &^ longPassword

// answerFlags are the capabilities that change what answers look like, by the names
// that variants have of them. Those of the two servers share a line.
var answerFlags = []struct {
	name string
	flag uint64
}{
	{"deprecate-eof", deprecateEOF},
	{"track", sessionTrack},
	{"metadata", optionalMetadata | cacheMetadata},
	{"extended", extendedMetadata},
	{"progress", progress},
	{"attributes", queryAttributes},
	{"ps-multi", psMultiResults},
}

// capabilityVariants are clients between which each two of answerFlags come in all
// four combinations: an orthogonal array of 8 rows, in which each column is another
// sum of three bits.
func capabilityVariants() []variant {
	var all []variant
	for row := range 8 {
		v := variant{flags: extendedFlags &^ psMultiResults}
		var names []string
		for i, f := range answerFlags {
			bits := row & (i + 1)
			if (bits^bits>>1^bits>>2)&1 == 1 {
				v.flags |= f.flag
				names = append(names, f.name)
			}
		}
		v.name = strings.Join(append(names, "eof")[:max(1, len(names))], ",")
		all = append(all, v)
	}
	return all
}

// errorInRows fails at its fourth row.
const errorInRows = "SELECT n, (SELECT m.n FROM nums m WHERE m.n = x.n OR x.n = 4 AND m.n < 3) FROM nums x ORDER BY n"

// capabilityCases are answers of all kinds, for clients with all kinds of flags.
var capabilityCases = withoutMetadata([]wireCase{
	{name: "rows", steps: queries("SELECT * FROM few ORDER BY id", "SELECT * FROM few WHERE id > 9", "SELECT NULL", "SELECT 1 FROM nosuch", "SELECT j, g, d FROM types ORDER BY id", "SHOW TABLES LIKE 'few'")},
	{name: "no rows", steps: queries("DO 1", "SET @a = 1", "CREATE TEMPORARY TABLE tt (a INT)", "INSERT INTO tt VALUES (1), (2)", "UPDATE tt SET a = 3", "DELETE FROM tt")},
	{name: "300 columns", steps: queries("SELECT 1" + strings.Repeat(",1", 299))},
	{name: "several", steps: queries("SELECT 1; DO 1; SELECT * FROM few; SELECT 2 FROM few WHERE id > 9", "SELECT 1; SELECT 2 FROM nosuch; SELECT 3")},
	{name: "several, taken apart", steps: queries("CREATE TABLE apart (a INT)", "SET @a = 1; INSERT INTO apart VALUES (1); INSERT INTO apart VALUES (2)", "DROP TABLE apart")},
	{name: "procedures", steps: queries("CALL two_results()", "CALL no_result()", "CALL warned()", "CALL result_then_error()", "CALL result_and_out(@a)")},
	{name: "error in rows", steps: []step{query(errorInRows), prepare(errorInRows), execute(1, noCursor), execute(1, noCursor)}},
	{name: "prepare", steps: []step{prepare("SELECT ?, ? FROM few"), prepare("DO ?"), prepare("SELECT 1"), prepare("DO 1"), prepare("SELECT * FROM nosuch"), prepare("CALL two_results()")}},
	{name: "execute thrice", steps: []step{prepare("SELECT id, s FROM few WHERE id > ? ORDER BY id"), execute(1, noCursor, integer(1)), execute(1, noCursor, integer(2)), executeAgain(1, integer(9)), query("SELECT 1"), executeAgain(1, integer(0))}},
	{name: "execute in turns", steps: []step{prepare("SELECT id FROM few"), prepare("SELECT s FROM few"), execute(1, noCursor), execute(2, noCursor), execute(1, noCursor), closeStmt(1), execute(2, noCursor), resetStmt(2), execute(2, noCursor)}},
	{name: "execute over a change of the table", steps: []step{query("CREATE TABLE grown (a INT)"), prepare("SELECT * FROM grown"), execute(1, noCursor), execute(1, noCursor), query("ALTER TABLE grown ADD b INT"), execute(1, noCursor), execute(1, noCursor), query("DROP TABLE grown"), execute(1, noCursor)}},
	{name: "execute other types", steps: []step{prepare("SELECT ?"), execute(1, noCursor, integer(1)), execute(1, noCursor, text("a")), execute(1, noCursor, param{kind: typeNull, null: true}), execute(1, noCursor, integer(1))}},
	{name: "execute what has no rows", steps: []step{prepare("SET @a = ?"), execute(1, noCursor, integer(1)), execute(1, noCursor, integer(2)), execute(1, readOnlyCursor, integer(2))}},
	{name: "execute SHOW", steps: []step{prepare("SHOW TABLES LIKE 'few'"), execute(1, noCursor), execute(1, noCursor), execute(1, readOnlyCursor), fetch(1, 9)}},
	{name: "execute a cut value", steps: []step{prepare("SELECT ?"), execute(1, noCursor, param{kind: typeVarchar, value: "\x20abc"}), execute(1, noCursor, integer(1))}},
	{name: "execute procedures", steps: []step{prepare("CALL two_results()"), execute(1, noCursor), execute(1, noCursor), prepare("CALL no_result()"), execute(2, noCursor), prepare("CALL result_then_error()"), execute(3, noCursor), execute(3, noCursor)}},
	{name: "OUT parameters", steps: []step{prepare("CALL out_params(?, ?, ?)"), execute(1, noCursor, integer(1), integer(2), text("")), execute(1, noCursor, integer(1), integer(2), text("")), prepare("CALL result_and_out(?)"), execute(2, noCursor, integer(0)), execute(2, noCursor, integer(0))}},
	{name: "cursor", steps: []step{prepare("SELECT n FROM nums WHERE n > ? ORDER BY n"), execute(1, readOnlyCursor, integer(994)), fetch(1, 3), fetch(1, 3), fetch(1, 3), execute(1, readOnlyCursor, integer(998)), fetch(1, 9), execute(1, readOnlyCursor, integer(9999)), fetch(1, 9)}},
	{name: "execute without a cursor after one with", login: login{flags: classicFlags}, steps: []step{prepare("SELECT n FROM nums WHERE n > ? ORDER BY n"), execute(1, readOnlyCursor, integer(997)), fetch(1, 2), execute(1, noCursor, integer(998)), query("SELECT 1"), fetch(1, 2)}},
	{name: "cursor with an error in its rows", patience: time.Second, steps: []step{prepare(errorInRows), execute(1, readOnlyCursor), fetch(1, 2), fetch(1, 2), execute(1, readOnlyCursor)}},
	{name: "cursor of a procedure", steps: []step{prepare("CALL two_results()"), execute(1, readOnlyCursor)}},
	{name: "cursors side by side", steps: []step{prepare("SELECT n FROM nums ORDER BY n"), prepare("SELECT s FROM few ORDER BY id"), execute(1, readOnlyCursor), execute(2, readOnlyCursor), fetch(1, 2), fetch(2, 2), query("SELECT 'between'"), fetch(1, 2), fetch(2, 2), resetStmt(1), fetch(1, 1), closeStmt(2), fetch(2, 1)}},
	{name: "state of the session", steps: append(queries("SET session_track_transaction_info = 'STATE', session_track_system_variables = 'time_zone,autocommit'", "BEGIN", "SELECT * FROM few", "SET time_zone = '+01:00'", "COMMIT", "USE mysql", "USE {db}"), prepare("SET time_zone = ?"), execute(1, noCursor, text("+05:00")), prepare("SELECT 1 FROM few"), query("BEGIN"), execute(2, noCursor), execute(2, readOnlyCursor), fetch(2, 9))},
	{name: "field list", steps: []step{command(comFieldList, "few\x00").reads(fields), command(comFieldList, "few\x00i%").reads(fields), command(comFieldList, "nosuch\x00").reads(fields)}},
	{name: "error 65535", steps: []step{query("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 65535"), query("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 65534")}},
	{name: "RETURNING", only: "mariadb", steps: []step{query("CREATE TABLE returned (id INT PRIMARY KEY AUTO_INCREMENT, a INT)"), query("INSERT INTO returned (a) VALUES (1), (2) RETURNING id, a"), prepare("INSERT INTO returned (a) VALUES (?) RETURNING id"), execute(1, noCursor, integer(3)), execute(1, noCursor, integer(4)), query("DROP TABLE returned")}},
	{name: "reset of the session", steps: []step{prepare("SELECT 1"), execute(1, noCursor), command(comResetConnection, ""), execute(1, noCursor), query("SELECT 1"), prepare("SELECT 1"), execute(2, noCursor)}},
	{name: "prepare fails and execute the latest", only: "mariadb", steps: []step{prepare("SELECT 1"), prepare("SELECT * FROM nosuch"), execute(latestStmt, noCursor), prepare("SELECT 2"), execute(latestStmt, noCursor), closeStmt(2), execute(latestStmt, noCursor)}},
	{name: "progress", only: "mariadb", login: login{flags: extendedFlags | deprecateEOF | progress}, steps: slowSteps},
	{name: "progress, EOF", only: "mariadb", login: login{flags: extendedFlags | cacheMetadata | progress}, steps: slowSteps},
})

// slowSteps take so long that a server tells of its progress. How often it does is up to the machine.
var slowSteps = append(queries("SET progress_report_time = 1", "SELECT n FROM nums LIMIT 300 INTO OUTFILE 'slow.txt'", "CREATE TABLE slow (n INT, b INT)"),
	query("LOAD DATA INFILE 'slow.txt' INTO TABLE slow (n) SET b = SLEEP(0.005)").masked(onlyKinds),
	query("DROP TABLE slow"))

// withoutMetadata doubles each case: the second time, the session wants no column
// definitions. MariaDB does not know the variable.
func withoutMetadata(cases []wireCase) []wireCase {
	all := slices.Clone(cases)
	for _, c := range cases {
		if c.only == "mariadb" {
			continue
		}
		c.name, c.only = c.name+", no metadata", "mysql"
		c.steps = append(queries("SET resultset_metadata = NONE"), c.steps...)
		all = append(all, c)
	}
	return all
}

// Each two of the flags come in all four combinations.
func TestCapabilityVariants(t *testing.T) {
	for i, a := range answerFlags {
		for _, b := range answerFlags[:i] {
			seen := make(map[[2]bool]bool)
			for _, v := range capabilityVariants() {
				seen[[2]bool{v.flags&a.flag != 0, v.flags&b.flag != 0}] = true
			}
			if len(seen) != 4 {
				t.Errorf("%s and %s: %d combinations", a.name, b.name, len(seen))
			}
		}
	}
}
