// Package sequence hands out globally unique, increasing ids from Vitess-style sequence tables.
//
// A sequence is one row (id 0) of a table with the columns next_id and cache. A process reserves a block of ids by moving
// next_id forwards, and hands the block out from memory. What holds, whatever fails:
//
//   - The row is the only authority. Ids are published only after the server has confirmed the commit that reserved them.
//     An attempt with any other end (an error, a lost connection, a timeout, also one that may have been committed) gives
//     no ids, and the next attempt starts by looking at the row again. Gaps are free, duplicates are not.
//   - What one process hands out never overlaps and never goes backwards. A row found behind the ids that were given to
//     this process (a restored backup, a failover, an edit) is raised above them.
//   - The n ids of one [Sequence.Next] are one contiguous block.
//   - No lock is held during a database call.
//
// [Registry] holds one [Sequence] per [Name]; a Sequence keeps the segment in use and the next one; a [Store] reserves
// blocks: [ForUpdate], [CAS] or [Increment].
//
// The table and its meaning are Vitess's (v0.22.1, go/vt/vttablet/tabletserver/query_executor.go, execNextval), and a
// sequence that is new or little used moves next_id exactly as Vitess would. These differ: 0 and negative ids are never
// handed out (such a next_id counts as 1), the ids end at 2^63-1 with [ErrExhausted], a block whose commit was not
// confirmed is not used, and a busy sequence fetches its next segment ahead and in larger steps.
package sequence

import "math"

// MaxN is the largest number of ids that one [Sequence.Next] gives: enough for every statement, and so little that no
// statement can use up a sequence.
const MaxN = 1_000_000_000

// maxID is the last id there is: next_id is a signed BIGINT.
const maxID = math.MaxInt64

// Range is a contiguous block of ids [First, First+N). First+N itself may lie past the int64s.
type Range struct{ First, N int64 }

// Last returns the last id of r, which must not be empty.
func (r Range) Last() int64 { return r.First + (r.N - 1) }

// then returns r and next as one block where next begins at the end of r; else only next, and r is dropped.
func (r Range) then(next Range) Range {
	switch {
	case next.N == 0:
		return r
	case r.N > 0 && r.Last() == next.First-1:
		return Range{r.First, r.N + next.N}
	}
	return next
}

// split cuts the first n ids off r, which must hold them.
func (r Range) split(n int64) (head, rest Range) {
	if n == r.N {
		return r, Range{}
	}
	return Range{r.First, n}, Range{r.First + n, r.N - n}
}

// above returns the ids of r that are larger than id.
func (r Range) above(id int64) Range {
	switch {
	case r.N == 0 || id < r.First:
		return r
	case id >= r.Last():
		return Range{}
	}
	return Range{id + 1, r.Last() - id}
}

// Name identifies a sequence: the keyspace whose backend holds it, the MySQL database and the table.
type Name struct {
	Keyspace, Database, Table string

	Foreign bool // Database is not the keyspace's own, but another one of its server
}

// String returns the name by which operators and clients know the sequence: keyspace.table. That of another database of the
// keyspace's server is keyspace.database.table, and without a keyspace database.table.
func (n Name) String() string {
	switch {
	case n.Keyspace == "":
		return n.Database + "." + n.Table
	case n.Foreign:
		return n.Keyspace + "." + n.Database + "." + n.Table
	}
	return n.Keyspace + "." + n.Table
}
