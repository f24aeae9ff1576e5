package parser

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrServerRefuses is matched by errors for statements that the server refuses
// whatever ids are put in. The caller passes such a text on unchanged, so that
// no id is used up and the client gets the server's own error.
var ErrServerRefuses = errors.New("the server refuses this statement")

// ErrColumnsUnknown says that the statement has no column list and the caller
// gave no columns of the table.
var ErrColumnsUnknown = errors.New("the statement has no column list and the table's columns are not known")

// ErrCompound says that the text holds a stored program or a compound
// statement, whose inner semicolons end no statement.
var ErrCompound = errors.New("compound statement")

// ErrModeChange says that a statement of the text may change how the text after
// it reads (sql_mode, character_set_client).
var ErrModeChange = errors.New("a statement changes how the following ones read")

// maxNear is how many bytes of the text MySQL quotes in a syntax error.
const maxNear = 80

// A SyntaxError says that the text could not be read. Near and Line are what
// MySQL's error 1064 says: the text from the first token not understood, at
// most 80 bytes, and its line, counted from 1.
type SyntaxError struct {
	Near string
	Line int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("syntax error near '%s' at line %d", e.Near, e.Line)
}

// syntaxError returns the error for the scanner's current token.
func (s *scanner) syntaxError() *SyntaxError {
	near := s.sql[s.start:]
	return &SyntaxError{
		Near: string(near[:min(len(near), maxNear)]),
		Line: 1 + bytes.Count(s.sql[:s.start], []byte("\n")),
	}
}

// An UnsupportedError says that the statement writes to the table named, in a
// form that ids cannot be put into. Form names it in a user's words.
type UnsupportedError struct {
	Form          string
	Schema, Table string
}

func (e *UnsupportedError) Error() string { return "not supported: " + e.Form }

// A ColumnCountError says that a row (counted from 1) has another number of
// values than there are columns: MySQL's error 1136. It is ErrServerRefuses.
type ColumnCountError struct{ Row int }

func (e *ColumnCountError) Error() string {
	return fmt.Sprintf("column count does not match value count at row %d", e.Row)
}

// Is reports whether target is ErrServerRefuses.
func (e *ColumnCountError) Is(target error) bool { return target == ErrServerRefuses }

// A DuplicateColumnError says that the column is named twice: MySQL's error
// 1110. It is ErrServerRefuses.
type DuplicateColumnError struct{ Column string }

func (e *DuplicateColumnError) Error() string {
	return fmt.Sprintf("column '%s' specified twice", e.Column)
}

// Is reports whether target is ErrServerRefuses.
func (e *DuplicateColumnError) Is(target error) bool { return target == ErrServerRefuses }

// A CountError says that SELECT NEXT n VALUES asks for a number of values that
// is none: 0, or beyond 2^63-1. Count is n as the client wrote it.
type CountError struct{ Sequence, Count string }

func (e *CountError) Error() string {
	return fmt.Sprintf("invalid increment for sequence %s: %s", e.Sequence, e.Count)
}
