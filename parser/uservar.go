package parser

// IsUserVariable reports whether the text is exactly one user variable: @x, @a.b,
// @'x', @"x" or @`x` (MySQL manual, "User-Defined Variables"). A name outside ASCII
// has to be quoted here.
func IsUserVariable(text []byte, m Mode) bool {
	if len(text) < 2 || text[0] != '@' {
		return false
	}
	name := text[1:]
	if isWordByte(name[0]) || name[0] == '.' {
		for _, c := range name {
			if !isWordByte(c) && c != '.' {
				return false
			}
		}
		return true
	}
	s := newScanner(name, m)
	t := s.next()
	return (t == tokenString || t == tokenName) && s.start == 0 && s.end == len(name)
}

// Variable returns the user variable that is a row's value of the column which
// Slots was asked for last, as it was written; nil for any other value. It returns
// nil too when the text may assign user variables: what a row then sees of one
// depends on the row. sql is the text given to Parse.
func (s *InsertStmt) Variable(sql []byte, row int) []byte {
	if s.bound.index < 0 {
		return nil
	}
	p := s.bound.places[row]
	text := sql[p.start:p.end]
	if !IsUserVariable(text, s.mode) || s.bound.sets.found(sql) == settingSome {
		return nil
	}
	return text
}

// setting says whether a text may assign user variables, once that was looked for.
type setting uint8

const (
	settingUnknown setting = iota
	settingNone
	settingSome
)

// found looks for assignments in the text, the first time that it is asked.
func (v *setting) found(sql []byte) setting {
	if *v == settingUnknown {
		*v = settingNone
		if hasAssignment(sql) {
			*v = settingSome
		}
	}
	return *v
}
