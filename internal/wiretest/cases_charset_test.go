package wiretest

import "fmt"

const askCharset = "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection"

// charsetCases are about character sets and collations, at login and after.
var charsetCases = append(collationCases(1, 8, 28, 33, 35, 45, 46, 47, 54, 63, 83, 192, 224, 246, 250, 255),
	wireCase{name: "SET NAMES", steps: queries("SET NAMES latin1", askCharset, "SELECT 'ä', HEX('ä')", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", askCharset, "SET NAMES nosuch", "SET NAMES DEFAULT", askCharset)},
	wireCase{name: "SET CHARACTER SET", steps: queries("SET CHARACTER SET latin1", askCharset, "SELECT 'ä'")},
	wireCase{name: "results in no character set", steps: queries("SET character_set_results = NULL", "SELECT 'ä', _latin1'\xe4'", "INSERT INTO few VALUES (1, 'x')")},
	wireCase{name: "results in UCS-2", steps: queries("SET character_set_results = ucs2", "SELECT 'ä' AS `ö`", "INSERT INTO few VALUES (1, 'x')", "SELECT * FROM nosuch", "SET character_set_results = utf8mb4")},
	wireCase{name: "connection in UTF-16", steps: queries("SET collation_connection = utf16_bin", "SELECT HEX('a')", "INSERT INTO few VALUES (1, 'x')")},
	wireCase{name: "GBK", steps: queries("SET NAMES gbk", "SELECT '\x81\x5c', HEX('\x81\x5c')", "INSERT INTO few VALUES (1, '\x81\x5c')", "SELECT 'a\\'b'")},
	wireCase{name: "shift-JIS", steps: queries("SET NAMES sjis", "SELECT HEX('\x95\x5c')", "INSERT INTO few VALUES (1, '\x95\x5c')")},
	wireCase{name: "introducers", steps: queries("SELECT _latin1'\xe4', _utf8mb4 0xc3a4, N'x', _binary'\xff'")},
	wireCase{name: "text that is no UTF-8", steps: queries("SELECT '\xff\xfe'", "SELECT 1 AS `\xff`", "INSERT INTO few VALUES (1, '\xff')", "SELECT * FROM `\xff`")},
	wireCase{name: "names beyond ASCII", steps: queries("CREATE TABLE `täble` (`cölumn` INT)", "INSERT INTO `täble` (`cölumn`) VALUES (1)", "SELECT `cölumn` AS `ergebnis`, 'é' FROM `täble`", "INSERT INTO `täble` VALUES ('ü')", "DROP TABLE `täble`")},
	wireCase{name: "four bytes", steps: queries("SELECT '😀', CHAR_LENGTH('😀')", "SET NAMES utf8mb3", "SELECT '😀'")},
	wireCase{name: "collations differ", steps: queries("SELECT _utf8mb4'a' COLLATE utf8mb4_bin = _utf8mb4'A' COLLATE utf8mb4_general_ci", "SELECT 'a' COLLATE latin1_bin")},
)

// collationCases log in with a collation's id each. Some are no client's, some of one server alone, some of none.
func collationCases(ids ...byte) []wireCase {
	var cases []wireCase
	for _, id := range ids {
		cases = append(cases, wireCase{name: fmt.Sprintf("collation %d", id), login: login{charset: id},
			steps: queries(askCharset, "SELECT 'a'", "INSERT INTO few VALUES (1, 'x')", "SELECT * FROM nosuch")})
	}
	return cases
}
