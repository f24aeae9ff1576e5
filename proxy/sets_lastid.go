package proxy

import "bytes"

// setsLastID reports whether a text that names LAST_INSERT_ID may set it, by an argument: whether one of its places is
// neither a variable, nor a column behind a dot, nor the function without an argument.
func setsLastID(sql []byte) bool {
	const name = "last_insert_id"
	for rest := bytes.ToLower(sql); ; {
		before, behind, found := bytes.Cut(rest, []byte(name))
		if !found {
			return false
		}
		open := bytes.TrimLeft(behind, " \t\r\n`")
		inside, called := bytes.CutPrefix(open, []byte("("))
		switch {
		case called && !bytes.HasPrefix(bytes.TrimLeft(inside, " \t\r\n"), []byte(")")):
			return true
		case !called && !bytes.HasSuffix(before, []byte("@")) && !bytes.HasSuffix(before, []byte(".")):
			return true // a comment may stand in between
		}
		rest = behind
	}
}
