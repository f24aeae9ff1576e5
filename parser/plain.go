package parser

import "bytes"

// Plain reports whether the text reads alike in every session: it is ASCII, of
// which all client character sets make the same, and it has neither the double
// quote nor the backslash nor the bracket, whose meaning is sql_mode's.
func Plain(sql []byte) bool {
	return bytes.IndexByte(sql, '"') < 0 && bytes.IndexByte(sql, '\\') < 0 && bytes.IndexByte(sql, '[') < 0 && isASCII(sql)
}

// Readings returns a mode for each way in which the text may read in a session of
// which no more is known than its server. It gives none for a text outside
// ASCII: that may read in as many ways as there are character sets.
func Readings(sql []byte, mariaDB bool) []Mode {
	if !isASCII(sql) {
		return nil
	}
	return readingsIn(nil, sql, Mode{MariaDB: mariaDB})
}

// readingsIn appends a mode for each way in which the sql_mode may have the text read.
func readingsIn(dst []Mode, sql []byte, m Mode) []Mode {
	readings := append(dst, m)
	begin := len(dst)
	if bytes.IndexByte(sql, '\\') >= 0 {
		other := m
		other.NoBackslashEscapes = true
		readings = append(readings, other)
	}
	if bytes.IndexByte(sql, '"') >= 0 {
		for _, other := range readings[begin:] {
			other.ANSIQuotes = true
			readings = append(readings, other)
		}
	}
	if m.MariaDB && bytes.IndexByte(sql, '[') >= 0 {
		m.ANSIQuotes, m.Brackets = true, true
		readings = append(readings, m)
	}
	return readings
}

// ParsePlainTarget is ParseTarget in a session of which no more is known than its
// server. It reports false when the text up to there is not Plain, or not
// understood.
func (s *InsertStmt) ParsePlainTarget(sql []byte, mariaDB bool) bool {
	if m := (Mode{MariaDB: mariaDB}); !s.isSameHead(sql, m) {
		s.resetHead(m)
	} else if Plain(s.head.text) {
		return true
	}
	sc := newScanner(sql, s.mode)
	_, err := s.target(&sc)
	s.setNames()
	return err == nil && Plain(sql[:sc.end])
}

// LeavesOut reports whether the statement has no value for the column that Bind
// or Slots was asked for last: that is generated then in every sql_mode.
func (s *InsertStmt) LeavesOut() bool { return s.bound.index < 0 }
