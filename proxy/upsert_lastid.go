package proxy

import "bytes"

// appendsID reports whether the id of a row that was there can be learned although the
// statement reads LAST_INSERT_ID() itself: of one row, on a column without
// AUTO_INCREMENT, the assignment that tells it comes behind all that read. A call with
// an argument sets what is to be kept.
func (p *fillPlan) appendsID(sql []byte) bool {
	return p.upsert && p.readsLastID && p.rows == 1 && p.binding.form == 0 && !p.binding.AutoIncrement && !p.returning && onlyReadsLastID(sql)
}

// onlyReadsLastID reports whether each LAST_INSERT_ID in a text is the variable, or the
// function without an argument.
func onlyReadsLastID(sql []byte) bool {
	const name = "last_insert_id"
	for rest := bytes.ToLower(sql); ; {
		before, behind, found := bytes.Cut(rest, []byte(name))
		if !found {
			return true
		}
		open := bytes.TrimLeft(behind, " \t\r\n`")
		inside, called := bytes.CutPrefix(open, []byte("("))
		switch {
		case called && !bytes.HasPrefix(bytes.TrimLeft(inside, " \t\r\n"), []byte(")")):
			return false
		case !called && !bytes.HasSuffix(before, []byte("@")) && !bytes.HasSuffix(before, []byte(".")):
			return false // a comment may stand in between
		}
		rest = behind
	}
}
