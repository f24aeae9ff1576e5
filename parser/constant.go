package parser

import (
	"slices"
	"strings"
)

// constantWords are the words that an expression may consist of whose value is the
// same on every server and whenever it is asked for: keywords, types of CAST, and
// functions of their arguments alone (MySQL manual, "Functions and Operators").
// Functions of the session, of time and of chance are not among them.
var constantWords = wordSet(`select true false null unknown and or not xor div mod is between in like as
	case when then else end if ifnull nullif coalesce greatest least
	abs ceil ceiling floor round truncate sign pow power sqrt crc32 conv bit_count
	length octet_length char_length character_length bit_length ascii ord char concat concat_ws
	lower lcase upper ucase left right mid substring substr substring_index replace repeat reverse
	trim ltrim rtrim lpad rpad insert instr locate elt field find_in_set space strcmp
	hex unhex bin oct md5 sha sha1 sha2 to_base64 from_base64 inet_aton inet_ntoa
	uuid_to_bin bin_to_uuid cast signed unsigned integer binary decimal _utf8mb4 _utf8 _binary`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// IsConstant reports whether an expression surely has one value, whichever server is
// asked for it and how often: it consists of literals, operators and functions of
// those. It reads no column, table, variable or placeholder.
func IsConstant(expression []byte, m Mode) bool { return isConstantOf(expression, m, nil) }

// isConstantOf is IsConstant for an expression that may read these names too.
func isConstantOf(expression []byte, m Mode, names []string) bool {
	s := newScanner(expression, m)
	known := func(t token) bool {
		name, ok := s.appendName(nil, t, m.Charset)
		if !ok || !slices.ContainsFunc(names, func(n string) bool { return sameColumn(n, string(name)) }) {
			return false
		}
		behind := s
		return behind.next() != '(' || strings.EqualFold(string(name), "values") || strings.EqualFold(string(name), "value")
	}
	for {
		switch t := s.next(); {
		case t == tokenEOF:
			return true
		case isName(t) && known(t), t == '.' && names != nil:
		case t == tokenWord && !isDigit(s.sql[s.start]) && !constantWords[strings.ToLower(string(s.text()))]:
			return false
		case t == tokenWord, t == tokenString:
		case t == '.' && !s.inNumber():
			return false
		case !strings.ContainsRune("+-*/%()|&^<>=!~,.", rune(t)):
			return false
		}
	}
}

// inNumber reports whether the current dot has a digit beside it.
func (s *scanner) inNumber() bool {
	return s.start > 0 && isDigit(s.sql[s.start-1]) || s.end < len(s.sql) && isDigit(s.sql[s.end])
}

// IsConstant reports whether all values of the rows, and those that ON DUPLICATE KEY
// UPDATE makes of the columns of a row that is there, surely are the same on every server
// and whenever they are computed. sql is the text given to Parse.
func (s *InsertStmt) IsConstant(sql []byte, columns []string) bool {
	if s.OnDuplicate {
		names := slices.Concat(columns, s.Columns, []string{s.Table, "values", "value"})
		if !isConstantOf(sql[s.body.updateFrom:s.body.updateEnd], s.mode, names) {
			return false
		}
	}
	if !s.body.readsNames {
		return true
	}
	for _, a := range s.body.assigns {
		if !IsConstant(sql[a.start:a.end], s.mode) && s.cell(sql, value{start: int(a.start), end: int(a.end)}).Kind != CellDefault {
			return false
		}
	}
	if len(s.body.assigns) > 0 {
		return true
	}
	sc := newScanner(sql, s.mode)
	for i := range s.body.rows {
		for index := range s.body.values {
			v := s.valueOf(&sc, i, index)
			if s.cell(sql, v).Kind == CellExpression && !IsConstant(sql[v.start:v.end], s.mode) {
				return false
			}
		}
	}
	return true
}
