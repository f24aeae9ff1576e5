package parser

import "bytes"

// Kind is what a statement is by its first keywords.
type Kind uint8

const (
	// Other is every statement that neither writes rows nor changes what
	// seqgate has to know of a session.
	Other Kind = iota
	Insert
	Replace
	Load // LOAD DATA, LOAD XML
	Next // SELECT NEXT followed by VALUE, VALUES, a number or a placeholder
	Select
	With // WITH: a SELECT, UPDATE or DELETE with common table expressions
	Update
	Delete
	Set
	Use
	Call
	Prepare
	Execute
	Deallocate // DEALLOCATE PREPARE, DROP PREPARE
	DDL        // CREATE, ALTER, DROP, RENAME, TRUNCATE
	Kill
	Begin // BEGIN, START TRANSACTION
	Commit
	Rollback
	Show
	// DynamicSQL may carry a statement that seqgate would have to see: MariaDB's
	// SET STATEMENT .. FOR, ANALYZE INSERT, EXECUTE IMMEDIATE and compound
	// statements, EXPLAIN ANALYZE, and text that begins with a version comment.
	DynamicSQL
)

// Sniff returns what the statement is, by its first keywords after white space,
// ordinary comments and opening parentheses. It reads no more of the text and
// allocates nothing. A text that begins with a semicolon is Other: both servers
// refuse it.
func Sniff(sql []byte) Kind {
	i := skipBlank(sql, 0)
	for i >= 0 && i < len(sql) && sql[i] == '(' {
		i = skipBlank(sql, i+1)
	}
	if i < 0 {
		return DynamicSQL
	}
	var buf keyword
	word, end := buf.read(sql, i)
	switch string(word) {
	case "select":
		return sniffSelect(sql, end)
	case "insert":
		return Insert
	case "update":
		return Update
	case "delete":
		return Delete
	case "replace":
		return Replace
	case "commit":
		return Commit
	case "rollback":
		return Rollback
	case "with":
		return With
	case "show":
		return Show
	case "use":
		return Use
	case "call":
		return Call
	case "kill":
		return Kill
	case "create", "alter", "rename", "truncate":
		return DDL
	case "prepare":
		return Prepare
	case "deallocate":
		return Deallocate
	case "":
		return sniffNoWord(sql, i)
	}
	return sniffSecond(sql, string(word), end)
}

// sniffSecond decides by the second keyword. The first one ends at end.
func sniffSecond(sql []byte, first string, end int) Kind {
	i := skipBlank(sql, end)
	if i < 0 {
		return DynamicSQL
	}
	var buf keyword
	word, _ := buf.read(sql, i)
	second := string(word)
	switch first {
	case "set":
		return choose(second == "statement", DynamicSQL, Set)
	case "load":
		return choose(second == "data" || second == "xml", Load, Other)
	case "begin":
		return choose(second == "work" || i == len(sql) || sql[i] == ';', Begin, DynamicSQL)
	case "start":
		return choose(second == "transaction", Begin, Other)
	case "execute":
		return choose(second == "immediate", DynamicSQL, Execute)
	case "drop":
		return choose(second == "prepare", Deallocate, DDL)
	case "explain", "describe", "desc":
		return choose(second == "analyze", DynamicSQL, Other)
	case "analyze":
		table := second == "table" || second == "local" || second == "no_write_to_binlog"
		return choose(table, Other, DynamicSQL)
	case "if", "case", "loop", "while", "repeat", "for", "declare":
		return DynamicSQL
	}
	return choose(i < len(sql) && sql[i] == ':', DynamicSQL, Other) // a label
}

func choose(condition bool, yes, no Kind) Kind {
	if condition {
		return yes
	}
	return no
}

// sniffNoWord returns the kind of a text whose first token, at i, is no word:
// a quoted label or one of MariaDB's <<labels>> begins a compound statement,
// and what is outside ASCII may be white space in the client's character set.
func sniffNoWord(sql []byte, i int) Kind {
	if i == len(sql) {
		return Other
	}
	c := sql[i]
	return choose(c >= 0x80 || c == '`' || c == '"' || c == '<', DynamicSQL, Other)
}

// sniffSelect tells SELECT NEXT VALUE from a SELECT of a column named next. The
// keyword SELECT ends at end.
func sniffSelect(sql []byte, end int) Kind {
	i := skipBlank(sql, end)
	if i < 0 || i == len(sql) || sql[i]|0x20 != 'n' {
		return Select
	}
	var buf keyword
	word, end := buf.read(sql, i)
	if string(word) != "next" {
		return Select
	}
	if i = skipBlank(sql, end); i < 0 || i == len(sql) {
		return Select
	}
	if isDigit(sql[i]) || sql[i] == '?' {
		return Next
	}
	word, _ = buf.read(sql, i)
	return choose(string(word) == "value" || string(word) == "values", Next, Select)
}

// A keyword is room for a word in lower case. Longer words than any keyword
// that matters are read up to its size.
type keyword [20]byte

// read returns the ASCII word at sql[i:] in lower case, empty when there is
// none, and where it ends.
func (k *keyword) read(sql []byte, i int) (word []byte, end int) {
	n := 0
	for ; i < len(sql); i++ {
		c := lowerWordBytes[sql[i]]
		if c == 0 {
			break
		}
		if n < len(k) {
			k[n] = c
			n++
		}
	}
	return k[:n], i
}

// skipBlank returns the index of the first byte from i on that is no white
// space and in no ordinary comment, or -1 when that is a version comment.
func skipBlank(sql []byte, i int) int {
	for i < len(sql) {
		switch c := sql[i]; {
		case isSpace(c):
			i++
		case c == '#', c == '-' && i+1 < len(sql) && sql[i+1] == '-' && (i+2 >= len(sql) || sql[i+2] <= ' '):
			i = endOfLine(sql, i)
		case c == '/' && i+1 < len(sql) && sql[i+1] == '*':
			if isVersionComment(sql[i+2:]) {
				return -1
			}
			n := bytes.Index(sql[i+2:], []byte("*/"))
			if n < 0 {
				return len(sql)
			}
			i += n + 4
		default:
			return i
		}
	}
	return i
}

func endOfLine(sql []byte, i int) int {
	if n := bytes.IndexByte(sql[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(sql)
}

// isVersionComment reports whether a comment with this text, which follows its
// opening, is one whose text some servers execute.
func isVersionComment(text []byte) bool {
	return len(text) > 0 && text[0] == '!' || len(text) > 1 && text[0] == 'M' && text[1] == '!'
}

// Single reports whether the text is one statement at most: it has no semicolon
// but at its end. It is quick and may say false for a semicolon inside a
// literal or a comment.
func Single(sql []byte) bool {
	i := bytes.IndexByte(sql, ';')
	if i < 0 {
		return true
	}
	for _, c := range sql[i:] {
		if c != ';' && !isSpace(c) {
			return false
		}
	}
	return true
}
