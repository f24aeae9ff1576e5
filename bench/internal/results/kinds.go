package results

import "slices"

// Kind says how a part is told.
type Kind struct {
	Name  string // of the parts
	Title string
	About string // Markdown, what was done
	X     string // what a point's X counts
	Y     string // the unit of rates in figures; "" for none
	Curve bool   // a table for each statement, with a figure; else one table of all statements
}

// Kinds are all kinds of parts, in the order of the report.
var Kinds = []Kind{
	{Name: Relaying, Title: "Relaying", X: "connections",
		About: "One statement through each hop to the same server. INSERT: native AUTO_INCREMENT, but filled from a sequence (cache 1000) through seqgate."},
	{Name: Connections, Title: "1 to 256 connections", X: "connections", Y: "statements/s", Curve: true,
		About: "NEXT VALUE: `UPDATE ... LAST_INSERT_ID(next_id + 1)` direct, `SELECT NEXTVAL(s)` of a SEQUENCE with cache 1000 in MariaDB, `SELECT NEXT VALUE` through seqgate."},
	{Name: NextValue, Title: "Next values", X: "connections",
		About: "One value of one sequence, cache 1000, which MariaDB's SEQUENCE keeps to and seqgate, by default, begins with: its blocks grow until they last. Direct by `UPDATE ... LAST_INSERT_ID(next_id + 1)`, MariaDB's own SEQUENCE by `SELECT NEXTVAL(s)`, seqgate by `SELECT NEXT VALUE`."},
	{Name: Sequences, Title: "1 to 10,000 sequences", X: "sequences", Y: "values/s", Curve: true,
		About: "`SELECT NEXT VALUE` by 8 connections in turn over all sequences of one seqgate, after each has given its first; memory is the process's by then. Without a vschema, seqgate asks the server what each name is, and again after a minute: first values take longer for it; names that its vschema has it knows."},
	{Name: Rows, Title: "1 to 1,000 rows in an INSERT", X: "rows in an INSERT", Y: "rows/s", Curve: true,
		About: "By 4 connections: native AUTO_INCREMENT direct and through the relay, filled through seqgate."},
	{Name: Seqgates, Title: "1 to 8 seqgates on one sequence", X: "seqgates", Y: "values/s", Curve: true,
		About: "`SELECT NEXT VALUE` by 32 connections, shared evenly among the seqgates, by refill strategy. Blocks are held to 100 ids, so that refills meet: with the default settings blocks grow until they last, and refills are rare. A conflict is a row that another seqgate has changed between reading and writing it."},
	{Name: Shards, Title: "2 to 64 shards", X: "shards", Y: "statements/s", Curve: true,
		About: "By 8 connections: the shards are databases of the one server; direct, the table is undivided."},
	{Name: Vitess, Title: "Beside Vitess", X: "connections", Y: "statements/s",
		About: "The same tables and statements: direct, through seqgate, and through Vitess v0.22.1: vtgate and its vttablets in one process, vtcombo, which spares them the calls between machines that a deployed Vitess has. \"sharded\": on two shards, databases of the server; direct, the tables are undivided. Ids are native AUTO_INCREMENT direct, and from sequences through the other two."},
	{Name: IDs, Title: "Ids in process",
		About: "`go run ./bench/ids`, in the same run; the columns are explained [above](#ids-of-generators-and-of-other-libraries)."},
}

// KindOf returns the kind of the parts of that name, which is one of the names below.
func KindOf(name string) *Kind {
	return &Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })]
}

// The names of the kinds.
const (
	Relaying    = "relaying"
	Connections = "connections"
	NextValue   = "nextvalue"
	Sequences   = "sequences"
	Rows        = "rows"
	Seqgates    = "seqgates"
	Shards      = "shards"
	Vitess      = "vitess"
	IDs         = "ids"
)
