package parser

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// LoadStmt is one LOAD DATA LOCAL INFILE, as offsets into its text, which is
// given again, unchanged, to AppendFilled ("LOAD DATA Statement" in the MySQL
// manual).
type LoadStmt struct {
	Schema, Table string     // unquoted, in UTF-8; Schema is empty when not given
	Replace       bool       // REPLACE: rows replace others
	Charset       string     // CHARACTER SET's, as it was written; "" for the default database's
	Format        LoadFormat // how the file's rows and fields are told apart
	Columns       []string   // of the column list, unquoted, in UTF-8; "" for a user variable; nil when there is no list
	UsesLastID    bool       // last_insert_id or identity is named in SET

	mode     Mode
	local    bool
	listAt   int // where columns can be written: behind the opening parenthesis, or where a list would stand
	hasList  bool
	setNames []string // all names in SET
	serverNo bool     // the server refuses the clauses
	index    int      // of the id among the file's fields; -1: it is in none
	listed   []string // columns that have to be written
}

// ParseLoad reads one LOAD DATA. An *UnsupportedError says that ids cannot be
// put into what it loads; one that is not understood is a *SyntaxError. An error
// that is ErrServerRefuses is for a statement that the server refuses.
func ParseLoad(sql []byte, m Mode) (*LoadStmt, error) {
	s := &LoadStmt{mode: m, Format: defaultLoadFormat(m)}
	sc := newScanner(sql, m)
	t, ok := s.target(&sc)
	if !ok {
		return nil, sc.syntaxError()
	}
	if !s.local {
		return nil, s.unsupported("LOAD DATA of a file on the server (without LOCAL)")
	}
	if t, ok = s.clauses(&sc, t); ok {
		t, ok = s.list(&sc, t)
	}
	if ok {
		t, ok = s.assignments(&sc, t)
	}
	for ok && t == ';' {
		t = sc.next()
	}
	switch {
	case s.serverNo:
		return nil, ErrServerRefuses
	case !ok || t != tokenEOF:
		e := sc.syntaxError()
		return nil, s.unsupported("LOAD DATA of this form (near '" + e.Near + "' at line " + strconv.Itoa(e.Line) + ")")
	}
	if form := s.Format.unfit(); form != "" {
		return nil, s.unsupported(form)
	}
	return s, nil
}

func (s *LoadStmt) unsupported(form string) error {
	return &UnsupportedError{Form: form, Schema: s.Schema, Table: s.Table}
}

// target reads the statement up to the table and its partitions, and returns the
// token after them.
func (s *LoadStmt) target(sc *scanner) (token, bool) {
	if !sc.reads("load", "data") {
		return 0, false
	}
	t := sc.next()
	if sc.is(t, "low_priority") || sc.is(t, "concurrent") {
		t = sc.next()
	}
	if s.local = sc.is(t, "local"); s.local {
		t = sc.next()
	}
	if !sc.is(t, "infile") || sc.next() != tokenString {
		return t, false
	}
	t = sc.next()
	if s.Replace = sc.is(t, "replace"); s.Replace || sc.is(t, "ignore") {
		t = sc.next()
	}
	if !sc.is(t, "into") || !sc.reads("table") {
		return t, false
	}
	table, t, ok := sc.tableName(sc.next(), s.mode.Charset)
	s.Schema, s.Table = table.Schema, table.Name
	if ok && sc.is(t, "partition") {
		if t = sc.next(); t != '(' || sc.row() != ')' {
			return t, false
		}
		t = sc.next()
	}
	return t, ok && t != tokenVersion && t != tokenInvalid
}

// reads moves on by words and reports whether they are these.
func (s *scanner) reads(words ...string) bool {
	for _, word := range words {
		if t := s.next(); !s.is(t, word) {
			return false
		}
	}
	return true
}

// clauses reads what describes the file, and returns the token after it.
func (s *LoadStmt) clauses(sc *scanner, t token) (token, bool) {
	ok := true
	switch {
	case sc.is(t, "charset"):
		t, ok = s.charset(sc)
	case sc.is(t, "character"), sc.is(t, "char"):
		if ok = sc.reads("set"); ok {
			t, ok = s.charset(sc)
		}
	}
	if ok && (sc.is(t, "fields") || sc.is(t, "columns")) {
		t, ok = s.fieldClauses(sc)
	}
	if ok && sc.is(t, "lines") {
		t, ok = s.lineClauses(sc)
	}
	if ok && sc.is(t, "ignore") {
		t, ok = s.ignore(sc)
	}
	return t, ok
}

// charset reads the name behind CHARACTER SET.
func (s *LoadStmt) charset(sc *scanner) (token, bool) {
	switch t := sc.next(); {
	case sc.is(t, "default"):
	case t == tokenString:
		s.Charset = string(sc.appendString(nil))
	case isName(t):
		name, ok := sc.appendName(nil, t, s.mode.Charset)
		if s.Charset = string(name); !ok {
			return t, false
		}
	default:
		return t, false
	}
	return sc.next(), true
}

// fieldClauses reads what follows FIELDS.
func (s *LoadStmt) fieldClauses(sc *scanner) (t token, ok bool) {
	f := &s.Format
	for t = sc.next(); ; t = sc.next() {
		optionally := sc.is(t, "optionally")
		if optionally {
			t = sc.next()
		}
		var text []byte
		switch {
		case sc.is(t, "terminated") && !optionally:
			f.FieldTerm, ok = sc.separator()
		case sc.is(t, "enclosed"):
			text, ok = sc.separator()
			f.Enclosed = s.single(text)
		case sc.is(t, "escaped") && !optionally:
			text, ok = sc.separator()
			f.Escape = s.single(text)
		default:
			return t, ok && !optionally
		}
		if !ok {
			return t, false
		}
	}
}

// lineClauses reads what follows LINES.
func (s *LoadStmt) lineClauses(sc *scanner) (t token, ok bool) {
	for t = sc.next(); ; t = sc.next() {
		switch {
		case sc.is(t, "terminated"):
			s.Format.LineTerm, ok = sc.separator()
		case sc.is(t, "starting"):
			s.Format.LineStart, ok = sc.separator()
		default:
			return t, ok
		}
		if !ok {
			return t, false
		}
	}
}

// single returns the only byte of a text, and NoByte for the empty one. The server
// takes no longer one.
func (s *LoadStmt) single(text []byte) int {
	s.serverNo = s.serverNo || len(text) > 1
	if len(text) == 0 {
		return NoByte
	}
	return int(text[0])
}

// separator reads BY and a literal: a string, or a number in hexadecimal digits.
func (s *scanner) separator() ([]byte, bool) {
	if !s.reads("by") {
		return nil, false
	}
	t := s.next()
	switch {
	case t == tokenString:
		text := s.appendString([]byte{})
		return text, isASCII(text)
	case t != tokenWord:
		return nil, false
	}
	digits := s.text()
	switch {
	case len(digits) > 2 && digits[0] == '0' && digits[1] == 'x':
		digits = digits[2:]
	case s.is(t, "x") && s.end < len(s.sql) && s.sql[s.end] == '\'' && s.next() == tokenString:
		digits = s.text()[1 : s.end-s.start-1]
	default:
		return nil, false
	}
	text, err := hex.AppendDecode([]byte{}, digits)
	return text, err == nil && isASCII(text)
}

// ignore reads n LINES or n ROWS.
func (s *LoadStmt) ignore(sc *scanner) (token, bool) {
	if t := sc.next(); t != tokenWord {
		return t, false
	}
	n, err := strconv.ParseUint(string(sc.text()), 10, 63)
	if t := sc.next(); err != nil || !sc.is(t, "lines") && !sc.is(t, "rows") {
		return t, false
	}
	s.Format.Skip = n
	return sc.next(), true
}

// list reads the list of columns and variables, if t begins one.
func (s *LoadStmt) list(sc *scanner, t token) (token, bool) {
	if t != '(' {
		s.listAt = sc.behindLast()
		return t, true
	}
	s.listAt, s.hasList = sc.end, true
	for t = sc.next(); t != ')'; {
		name, next, ok := s.columnOrVariable(sc, t)
		if !ok || next != ',' && next != ')' {
			return next, false
		}
		s.Columns = append(s.Columns, name)
		if t = next; t == ',' {
			if t = sc.next(); t == ')' {
				return t, false
			}
		}
	}
	return sc.next(), true
}

// behindLast returns where the token before the current one ends: what is written
// there is in no comment.
func (s *scanner) behindLast() int {
	before := newScanner(s.sql, s.mode)
	end := 0
	for before.next(); before.start < s.start; before.next() {
		end = before.end
	}
	return end
}

// columnOrVariable reads one of the list. It gives "" for a variable, and the
// token after it.
func (s *LoadStmt) columnOrVariable(sc *scanner, t token) (name string, next token, ok bool) {
	if t == '@' {
		t = sc.next()
		return "", sc.next(), isName(t) || t == tokenString
	}
	return s.column(sc, t)
}

// column reads a column's name, of which t is the current token, and drops its
// qualifiers.
func (s *LoadStmt) column(sc *scanner, t token) (name string, next token, ok bool) {
	if !isName(t) {
		return "", t, false
	}
	text, ok := sc.appendName(nil, t, s.mode.Charset)
	if next = sc.next(); next == '.' && ok {
		return s.column(sc, sc.next())
	}
	return string(text), next, ok
}

// assignments reads SET, if t begins it.
func (s *LoadStmt) assignments(sc *scanner, t token) (token, bool) {
	if !sc.is(t, "set") {
		return t, true
	}
	begin := sc.end
	for {
		_, t, ok := s.column(sc, sc.next())
		if ok && t == ':' {
			t = sc.next()
		}
		if !ok || t != '=' {
			return t, false
		}
		v, t := sc.value(sc.next())
		if v.tokens == 0 || t == ')' || t == tokenInvalid || t == tokenVersion {
			return t, false
		}
		if t != ',' {
			s.noteNames(sc.sql[begin:v.end])
			s.UsesLastID = sc.lastInsertID
			return t, true
		}
	}
}

// noteNames notes all names in a part of the statement.
func (s *LoadStmt) noteNames(sql []byte) {
	sc := newScanner(sql, s.mode)
	for {
		switch t := sc.next(); {
		case t == tokenEOF, t == tokenInvalid:
			return
		case isName(t):
			if name, ok := sc.appendName(nil, t, s.mode.Charset); ok {
				s.setNames = append(s.setNames, string(name))
			}
		}
	}
}

// Bind finds the place of the column that is to be filled among the file's
// fields. tableColumns are those that a statement without a list loads, in order.
func (s *LoadStmt) Bind(column string, tableColumns []string) error {
	same := func(name string) bool { return sameColumn(name, column) }
	if slices.ContainsFunc(s.setNames, same) {
		return s.unsupported("LOAD DATA whose SET names the column '" + column + "'")
	}
	listed := s.Columns
	s.listed = nil
	if len(listed) == 0 {
		listed, s.listed = tableColumns, tableColumns
	}
	s.index = slices.IndexFunc(listed, same)
	if s.index < 0 {
		s.listed = append([]string{column}, s.listed...)
	} else if slices.ContainsFunc(listed[s.index+1:], same) {
		return s.unsupported("LOAD DATA with the column '" + column + "' twice")
	}
	for _, name := range s.listed {
		if !s.mode.Charset.spells(name) {
			return s.unsupported("LOAD DATA in a character set that the column's name cannot be written in")
		}
	}
	s.Format.fields = len(listed)
	if len(listed) == 0 {
		return s.unsupported("LOAD DATA of no columns")
	}
	return nil
}

// AppendFilled appends the statement's text to dst, with the bound column first
// in its list where it was in none, and with the list where it had none.
func (s *LoadStmt) AppendFilled(dst, sql []byte) []byte {
	dst = append(dst, sql[:s.listAt]...)
	if len(s.listed) > 0 {
		if !s.hasList {
			dst = append(dst, " ("...)
		}
		for i, name := range s.listed {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendQuoted(dst, name, s.mode.Charset)
		}
		switch {
		case !s.hasList:
			dst = append(dst, ") "...)
		case len(s.Columns) > 0:
			dst = append(dst, ", "...)
		}
	}
	return append(dst, sql[s.listAt:]...)
}

// Splitter returns what finds the ids' places in the file, which is in the given
// character set: s.Charset, or the default database's. m says how the ids that are
// in the file read. Of multi-byte character sets other than UTF-8 no file is read:
// that is an *UnsupportedError.
func (s *LoadStmt) Splitter(charset string, m Mode) (*LoadSplitter, error) {
	c := CharsetByName(charset)
	wide := false
	switch c.String() {
	case "utf8mb4", "utf8mb3", "utf8":
		wide = true
	case "ascii", "binary":
	default:
		if c.layout() != layoutSingle {
			return nil, s.unsupported("LOAD DATA of a file in the character set '" + charset + "'")
		}
	}
	return newLoadSplitter(s.Format, s.index, wide, m), nil
}
