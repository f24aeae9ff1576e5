package parser

// RouteKind is what a statement does, as far as it matters for where it goes.
type RouteKind uint8

// The kinds of statements that a Route tells apart.
const (
	RouteOther    RouteKind = iota // none of the others: Name says which
	RouteSelect                    // SELECT, TABLE, VALUES, set operations of them
	RouteUpdate                    // UPDATE of one table or several
	RouteDelete                    // DELETE from one table or several
	RouteInsert                    // INSERT, REPLACE: read no further
	RouteDDL                       // CREATE, ALTER, DROP, RENAME, TRUNCATE of tables, views and indexes
	RouteMaintain                  // ANALYZE, OPTIMIZE, REPAIR, CHECK TABLE
	RouteShow                      // SHOW, DESCRIBE of a table
)

// A Route is what of a statement decides which shards can answer it. The tables of one query block have numbers in a
// row, in the order of its FROM clause.
type Route struct {
	Kind    RouteKind
	Name    string // the statement in a user's words, such as "LOCK TABLES"
	Explain bool   // EXPLAIN of what the rest describes
	Blocks  []RouteBlock
	Tables  []RouteTable
	Equals  []RouteEqual
	Ins     []RouteIn
	Sets    []RouteColumn // the columns that UPDATE assigns, as named; a Table of -1 may be any of the statement's
	Targets []int         // the tables that the statement may write to

	// Qualifiers are all places where a name says which keyspace is meant.
	Qualifiers []RouteQualifier
	Functions  []string // functions called by a plain name, in lower case, each once
	Varies     string   // what of it may differ from server to server and from call to call, such as "NOW()"; "" for nothing
	Assigns    bool     // it assigns user variables: @x := 1, or INTO @x
	Reads      bool     // it reads user variables
	Into       bool     // SELECT ... INTO OUTFILE, DUMPFILE or variables
	Locks      bool     // SELECT ... FOR UPDATE or FOR SHARE
	SetOp      bool     // it has UNION, EXCEPT or INTERSECT anywhere
	Limit      bool     // the UPDATE or DELETE has a LIMIT
	Database   string   // of SHOW ... FROM database

	scan *routeScan
}

// A RouteBlock is one SELECT, or the UPDATE or DELETE itself.
type RouteBlock struct {
	Parent  int  // the block that it is in; -1 for the statement's own, also each SELECT of a union
	Derived bool // a table expression: a derived table or a WITH clause, or within one
	First   int  // of its tables
	Last    int  // the one after its last table
	Members bool // it is a member of a set operation
	outer   int  // the block in which its names are looked up next; -1 for none
	sources []routeSource
	using   bool // JOIN ... USING or NATURAL
	rightTo bool // RIGHT JOIN
}

// routeSource is what a name before a column may mean: a table by its number, or -1 for a table expression.
type routeSource struct {
	schema, name string // the name in lower case, or the alias
	alias        bool
	table        int
}

// A RouteTable is one place where the statement names a table that no WITH clause makes.
type RouteTable struct {
	Table
	Alias    string
	Block    int
	Optional bool // an outer join may have NULLs instead of its rows
}

// A RouteColumn is a column of a table by its number, or, with -1, one of which the table is not known. Its name is in
// lower case.
type RouteColumn struct {
	Table int
	Block int // where it is named
	Name  string
}

// A RouteScope says for which tables a condition counts: rows of the tables numbered from First to before Last that do
// not fulfil it have no part in the result.
type RouteScope struct{ First, Last int }

// Has reports whether the condition counts for the table.
func (s RouteScope) Has(table int) bool { return table >= s.First && table < s.Last }

// A RouteEqual is the condition that two columns are equal. With NotNull it counts only when neither can be NULL: it is
// that of an IN (SELECT ...) of which the result may be NULL, which other rows decide about, or of <=>.
type RouteEqual struct {
	Left, Right RouteColumn
	RouteScope
	NotNull bool
}

// A RouteIn is the condition that columns together have the values of one of the rows: column = value is one of one
// column and one row.
type RouteIn struct {
	Columns []RouteColumn
	Rows    [][]RouteOperand
	RouteScope
}

// OperandKind is what kind of constant a RouteOperand is.
type OperandKind uint8

// The kinds of constants. Any other expression is an OperandOther.
const (
	OperandOther OperandKind = iota
	OperandNull
	OperandParam   // placeholder number Index, from 0
	OperandLiteral // literal number Index of the text, from 0
)

// A RouteOperand is a constant that a column is compared with.
type RouteOperand struct {
	Kind     OperandKind
	Index    int
	Negative bool // a minus stands before the number
}

// A RouteQualifier is a name before a dot, or after SHOW ... FROM, that stands for a database.
type RouteQualifier struct {
	Schema     string
	Start, End int
}

// ReadRoute reads one statement by the TiDB parser. Its error is an *UnreadableError for a statement that the TiDB parser
// does not take or that may be read in more than one way.
func ReadRoute(sql []byte, m Mode) (*Route, error) {
	scan, err := scanRoute(sql, m)
	if err != nil {
		return nil, err
	}
	stmt, err := scan.parse()
	if err != nil {
		return nil, err
	}
	w := routeWalk{route: &Route{scan: scan}, scan: scan}
	w.statement(stmt)
	if w.err == nil {
		w.err = w.matchQualifiers()
	}
	return w.route, w.err
}

// An UnreadableError says why a statement cannot be read for routing, in a user's words.
type UnreadableError struct{ Reason string }

func (e *UnreadableError) Error() string { return "seqgate could not read this statement: " + e.Reason }

// Literals returns the constants of the text that RouteOperand.Index counts.
func (r *Route) Literals() []Literal { return r.scan.literals }
