package proxy

// filler fills INSERTs: it reads one for its table, takes the ids that it leaves out, and sends it with them to a server. It
// answers nobody. What it is made of, each part knowing those before it: statementReader, idTaker, insertWriter, queryFiller,
// insertPlanner; filler itself is about parameters of prepared statements.
type filler struct{ insertPlanner }

// idTaker takes ids for the rows of an INSERT that have none: from a sequence, keyed or not, a generator, or SET insert_id.
type idTaker struct {
	statementReader

	idsAt []int // where in scratch the ids of a statement are, or among its parameters
}

// insertWriter writes ids into a statement and sends it, again with others where those are taken, and learns from the
// answer which rows there are.
type insertWriter struct{ idTaker }

// queryFiller fills INSERT ... SELECT.
type queryFiller struct{ insertWriter }

// insertPlanner has INSERTs and LOAD DATA planned: it fetches what plans lack.
type insertPlanner struct{ queryFiller }
