package parser

import (
	"bytes"
	"encoding/hex"
	"errors"
)

// ErrPlaceholders says that it cannot be told for certain which question marks of a
// text are placeholders.
var ErrPlaceholders = errors.New("seqgate could not tell which question marks of this statement are placeholders; write it without version comments")

// Placeholders appends to dst where the placeholders of a statement are, in their
// order. Its error is ErrPlaceholders.
func Placeholders(dst []int, sql []byte, m Mode) ([]int, error) {
	s := newScanner(sql, m)
	for {
		switch t := s.next(); {
		case t == tokenEOF:
			return dst, nil
		case t == tokenParam:
			dst = append(dst, s.start)
		case t == tokenInvalid, t == tokenVersion && bytes.IndexByte(s.text(), '?') >= 0:
			return dst, ErrPlaceholders
		}
	}
}

// AppendBound appends a statement with values in the place of its placeholders,
// which are at these indexes; all else stays byte for byte. value appends the n-th.
func AppendBound(dst, sql []byte, at []int, value func(dst []byte, n int) ([]byte, error)) ([]byte, error) {
	done := 0
	for n, i := range at {
		dst = append(dst, sql[done:i]...)
		done = i + 1
		before, after := i > 0 && joins(sql[i-1]), done < len(sql) && joins(sql[done])
		// A string behind another one is a part of it: SELECT ? 'alias'.
		beside := bytes.TrimLeft(sql[done:], " \t\r\n")
		enclosed := len(beside) > 0 && (beside[0] == '\'' || beside[0] == '"')
		if before {
			dst = append(dst, ' ')
		}
		if enclosed {
			dst = append(dst, '(')
		}
		var err error
		if dst, err = value(dst, n); err != nil {
			return dst, err
		}
		if enclosed {
			dst = append(dst, ')')
		}
		if after {
			dst = append(dst, ' ')
		}
	}
	return append(dst, sql[done:]...), nil
}

// joins reports whether a literal directly beside c may be read together with it.
func joins(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '(', ')', ',', '=', ';':
		return false
	}
	return true
}

// AppendText appends a character string in the session's character set as a literal
// of its bytes. It reports false when there is none: of a character set that this
// package does not know.
func AppendText(dst, text []byte, m Mode) ([]byte, bool) {
	switch {
	case isASCII(text) || !m.Charset.layout().multiByte() && m.Charset.layout() != layoutUnknown:
		return AppendLiteral(dst, text, m), true
	case m.Charset.layout() == layoutUnknown:
		return dst, false
	}
	// The second byte of a character may be a quote's or a backslash's.
	dst = append(append(dst, '_'), m.Charset.String()...)
	return appendHex(append(dst, ' '), text), true
}

// AppendBytes appends a string of bytes as a literal.
func AppendBytes(dst, b []byte, m Mode) []byte {
	dst = append(dst, "_binary"...)
	if isASCII(b) || !m.Charset.layout().multiByte() && m.Charset.layout() != layoutUnknown {
		return AppendLiteral(dst, b, m)
	}
	return appendHex(append(dst, ' '), b)
}

// appendHex appends bytes, which are not none, as a hexadecimal literal.
func appendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }
