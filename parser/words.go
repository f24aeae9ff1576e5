package parser

import "bytes"

// Words returns the first n words of a text in upper case, "" from the first on that
// is none. Other tokens but parentheses before the first word end them, and words are
// cut to the length of keywords.
func Words(sql []byte, n int) []string {
	words := make([]string, n)
	i := skipBlank(sql, 0)
	for i >= 0 && i < len(sql) && sql[i] == '(' {
		i = skipBlank(sql, i+1)
	}
	for at := range words {
		if i < 0 {
			break
		}
		var buf keyword
		word, end := buf.read(sql, i)
		if len(word) == 0 {
			break
		}
		words[at] = string(bytes.ToUpper(word))
		i = skipBlank(sql, end)
	}
	return words
}

// ShowLike returns the pattern of SHOW DATABASES or SHOW SCHEMAS. It reports false
// for one with a WHERE, and for other texts.
func ShowLike(sql []byte, m Mode) (like Pattern, ok bool) {
	p := commandParser{scanner: newScanner(sql, m), stmt: &CommandStmt{}}
	p.advance()
	if !p.word("show") || !p.word("databases") && !p.word("schemas") || !p.like() {
		return Pattern{}, false
	}
	for p.t == ';' {
		p.advance()
	}
	return p.stmt.Like, p.t == tokenEOF
}
