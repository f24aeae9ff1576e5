package parser

import (
	"errors"
	"slices"
)

// Right is what a user of seqgate's needs for a statement. Each includes those before it.
type Right uint8

const (
	// RightRead is for what changes no data: queries, SHOW, transactions, settings of the session.
	RightRead Right = iota
	// RightWrite is for INSERT and the like, locks, next values of sequences, temporary tables, KILL.
	RightWrite
	// RightAdmin is for definitions, CALL, SETVAL, GRANT, the server's own settings, ALTER VSCHEMA, and for all that is
	// not read with certainty.
	RightAdmin
)

// Needs is what a text needs of who sends it.
type Needs struct {
	Right Right
	// Writes are the tables whose rows it may change, as far as they stand in it; it may name others too.
	Writes []Table
	// Prepares and Executes say that it has SQL's PREPARE or EXECUTE of a name. Right is what is prepared, too; what is
	// executed was judged when it was prepared.
	Prepares, Executes bool
}

// Judge finds out what a text of one statement or several needs, at most. It may be read in each of the modes, and its
// version comments by a server of that version (see ServerVersion). What it does not know needs RightAdmin. It takes time
// in proportion to the text. Stored functions, views and triggers are not looked into: what they may do is a matter of
// the servers' own privileges.
func Judge(sql []byte, modes []Mode, version int) Needs {
	r := rights{version: version}
	r.text(sql, modes)
	return r.needs
}

// NeededRight is the Right of Judge.
func NeededRight(sql []byte, modes []Mode, version int) Right {
	return Judge(sql, modes, version).Right
}

// rights finds out what statements need.
type rights struct {
	version int
	needs   Needs

	carried  bool     // within a PREPARE or EXECUTE IMMEDIATE: neither may have another
	scoped   bool     // behind SET STATEMENT .. FOR: it may have no other
	database database // in which names stand now
}

// database is the default one at a place of a text, as far as the text says.
type database struct {
	name string // that of a USE before; empty for that of the session
	lost bool   // a statement before may have changed it unseen
}

// need notes that a right is needed.
func (r *rights) need(right Right) { r.needs.Right = max(r.needs.Right, right) }

// judged reports whether no more can be needed.
func (r *rights) judged() bool { return r.needs.Right == RightAdmin }

// rest is the end of a text, from where on it reads in no known mode.
type rest struct {
	begin    int
	database database
}

// maxRests bounds how many ends of a text are judged again, in each way in which they may read.
const maxRests = 8

// text judges a text in the worst of the modes, and what is behind statements that may change the mode in any.
func (r *rights) text(sql []byte, modes []Mode) {
	if len(modes) == 0 {
		r.need(RightAdmin)
		return
	}
	begin := r.database
	var rests []rest
	for _, m := range modes {
		r.database = begin
		rests = r.statements(sql, 0, m, rests)
	}
	for i := 0; i < len(rests) && !r.judged(); i++ {
		readings := Readings(sql[rests[i].begin:], modes[0].MariaDB)
		if i == maxRests || len(readings) == 0 {
			r.need(RightAdmin)
			return
		}
		for _, m := range readings {
			r.database = rests[i].database
			rests = r.statements(sql, rests[i].begin, m, rests)
		}
	}
}

// statements judges those of sql[begin:] up to one behind which the rest may read in another mode, which it adds to rests.
func (r *rights) statements(sql []byte, begin int, m Mode, rests []rest) []rest {
	text := sql[begin:]
	if HasVersion(text) {
		resolved, ok := ResolveVersions(text, m, r.version)
		if !ok {
			r.need(RightAdmin)
			return rests
		}
		text = resolved
	}
	spans, err := Split(nil, text, m)
	for i, span := range spans {
		part := text[span.Start:span.End]
		last := i == len(spans)-1
		if last && errors.Is(err, ErrModeChange) {
			return r.addRest(rests, begin+span.Start)
		}
		if last && err != nil && !(errors.Is(err, ErrCompound) && Single(part)) {
			r.need(RightAdmin)
		}
		if r.judged() {
			return rests
		}
		r.statement(part, m)
		if !last && runsUnseen(part) {
			return r.addRest(rests, begin+spans[i+1].Start)
		}
	}
	return rests
}

func (r *rights) addRest(rests []rest, begin int) []rest {
	one := rest{begin, r.database}
	if slices.Contains(rests, one) {
		return rests
	}
	return append(rests, one)
}

// runsUnseen reports whether a statement may run another, which may change how the text behind reads.
func runsUnseen(statement []byte) bool {
	switch Sniff(statement) {
	case Execute, Call, Carrier:
		return true
	}
	return false
}

// statement judges one statement.
func (r *rights) statement(sql []byte, m Mode) {
	r.verb(sql, m)
	if !r.judged() {
		r.words(sql, m)
	}
}
