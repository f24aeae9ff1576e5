package parser

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// ServerVersion returns a server's version as version comments count it, 90704 for
// MySQL 9.7.4 and 101106 for MariaDB 10.11.6, from what it says of itself in its
// greeting. It gives 0 for a text that is no version.
func ServerVersion(greeting string) int {
	greeting = strings.TrimPrefix(greeting, "5.5.5-") // MariaDB's, for old replicas
	version := 0
	parts := strings.SplitN(greeting, ".", 3)
	if len(parts) < 3 {
		return 0
	}
	for _, part := range parts {
		digits := 0
		for digits < len(part) && isDigit(part[digits]) {
			digits++
		}
		n, err := strconv.Atoi(part[:digits])
		if err != nil || n > 99 {
			return 0
		}
		version = version*100 + n
	}
	return version
}

// HasVersion reports whether a version comment may begin in the text. It may find
// one in a literal.
func HasVersion(sql []byte) bool {
	return bytes.Contains(sql, []byte("/*!")) || bytes.Contains(sql, []byte("/*M!"))
}

// ResolveVersions returns the text as a server of this version (see ServerVersion)
// reads it: blanks stand in it for the version comments that the server skips, and
// for the delimiters and the number of those that it executes ("Comments" in the
// MySQL manual, "Comment Syntax" in MariaDB's documentation). It is as long as the
// text that came, line by line.
//
// It reports false for a text without a meaning of that kind: one in which a
// version comment does not end, or holds a semicolon, behind which the servers read
// on as in a new text.
func ResolveVersions(sql []byte, m Mode, version int) (resolved []byte, ok bool) {
	if version == 0 {
		return nil, false
	}
	r := resolver{newScanner(slices.Clone(sql), m)}
	r.openings = true
	executing := false // within a version comment
	for {
		switch t := r.next(); {
		case t == tokenEOF:
			return r.sql, !executing
		case t == ';' && executing:
			return nil, false
		case t == '*' && executing && r.end < len(r.sql) && r.sql[r.end] == '/':
			executing = false // also of one that began within another
			r.blank(r.start, r.end+1)
		case t == tokenInvalid:
			return nil, false
		case t == tokenVersion:
			body, executes, ok := r.opening(version)
			if !ok {
				return nil, false
			}
			executing = executing || executes
			r.blank(r.start, body)
		}
	}
}

// resolver is a scanner that changes its text.
type resolver struct{ scanner }

// blank puts blanks for sql[i:j], but for the ends of lines, and goes on behind.
func (r *resolver) blank(i, j int) {
	for ; i < j; i++ {
		if r.sql[i] != '\n' {
			r.sql[i] = ' '
		}
	}
	r.end = j
}

// opening reads the version comment that begins with the current token: where it
// ends when the server skips it, or where what it executes begins. It reports false
// when it does not end, or servers of one kind differ.
func (r *resolver) opening(version int) (body int, executes, ok bool) {
	text := r.sql[r.start:]
	i := len("/*!")
	if text[2] == 'M' {
		i++
	}
	n := 0
	for n < mostDigits && i+n < len(text) && isDigit(text[i+n]) {
		n++
	}
	if n < leastDigits {
		return r.start + i, true, true // they are a part of what is executed
	}
	if n == mostDigits && !r.mode.MariaDB && (i+n == len(text) || !isSpace(text[i+n])) && r.executes(text[:i+leastDigits], i, version) {
		return 0, false, false // MySQL 9 takes five digits for the number then; before it took six
	}
	executes = r.executes(text[:i+n], i, version)
	if executes {
		return r.start + i + n, true, true
	}
	end, ok := skippedEnd(text, i+leastDigits)
	return r.start + end, false, ok
}

// A version number has 5 or 6 digits.
const leastDigits, mostDigits = 5, 6

// executes reports whether the server executes a version comment that begins with
// this text, of which the number begins at i.
func (r *resolver) executes(begin []byte, i, version int) bool {
	number, _ := strconv.Atoi(string(begin[i:]))
	return number <= version && (!r.mode.MariaDB || begin[2] == 'M' || !isMySQLOnly(number))
}

// isMySQLOnly reports whether MariaDB skips comments of this number whatever its
// own version is: those of MySQL 5.7 and later have a syntax of their own.
func isMySQLOnly(number int) bool { return number >= 50700 && number <= 99999 }

// skippedEnd returns where a version comment ends that the server skips, of which
// text[i:] is within. It may have comments within, which have none.
func skippedEnd(text []byte, i int) (end int, ok bool) {
	for ; i+1 < len(text); i++ {
		switch {
		case text[i] == '*' && text[i+1] == '/':
			return i + 2, true
		case text[i] == '/' && text[i+1] == '*':
			n := bytes.Index(text[i+2:], []byte("*/"))
			if n < 0 {
				return 0, false
			}
			i += n + 3
		}
	}
	return 0, false
}
