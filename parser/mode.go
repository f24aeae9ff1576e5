package parser

import "strings"

// Mode is what of a session's state changes how its SQL text reads and which
// values of an auto-increment column are generated. The zero Mode is a MySQL
// session with utf8mb4 text and an empty sql_mode.
type Mode struct {
	// ANSIQuotes: "x" is an identifier, not a string.
	ANSIQuotes bool
	// NoBackslashEscapes: a backslash in a string is an ordinary character.
	NoBackslashEscapes bool
	// Brackets: [x] is an identifier (MariaDB's MSSQL). Such text is not read.
	Brackets bool
	// NoAutoValueOnZero: only NULL and an absent column are generated; 0 and
	// DEFAULT are stored as 0.
	NoAutoValueOnZero bool
	// EmptyStringIsNull: '' reads as NULL (MariaDB's EMPTY_STRING_IS_NULL).
	EmptyStringIsNull bool
	// Strict: text that is no number is an error in an integer column;
	// otherwise it is stored as the number it begins with, or 0.
	Strict bool
	// Approximate: the column is a FLOAT or DOUBLE, which rounds a half to 0 when it
	// asks whether a value is to be generated. Fractions between -1 and 1 are Unknown.
	Approximate bool
	// OnlyNull: the column holds no numbers. NULL, DEFAULT and an absent column are generated; any literal is the row's
	// own.
	OnlyNull bool
	// Charset is the session's character_set_client.
	Charset Charset
	// MariaDB: the server is a MariaDB, which reads X'..', \N, IGNORE and /*M!
	// in its own way.
	MariaDB bool
}

// NewMode returns the mode of a session from @@sql_mode, @@character_set_client
// and the kind of its server. Combination modes (ANSI, TRADITIONAL, ORACLE, ...)
// count as the modes they stand for, so the text of a SET statement may be
// given too; names that do not change how text reads are ignored.
func NewMode(sqlMode, characterSetClient string, mariaDB bool) Mode {
	m := Mode{Charset: CharsetByName(characterSetClient), MariaDB: mariaDB}
	for name := range strings.SplitSeq(sqlMode, ",") {
		switch name = strings.ToUpper(strings.TrimSpace(name)); name {
		case "ANSI_QUOTES", "ANSI", "ORACLE", "MSSQL", "POSTGRESQL", "DB2", "MAXDB":
			m.ANSIQuotes = true
			m.Brackets = m.Brackets || name == "MSSQL" && mariaDB
		case "NO_BACKSLASH_ESCAPES":
			m.NoBackslashEscapes = true
		case "NO_AUTO_VALUE_ON_ZERO":
			m.NoAutoValueOnZero = true
		case "EMPTY_STRING_IS_NULL":
			m.EmptyStringIsNull = true
		case "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL":
			m.Strict = true
		}
	}
	return m
}
