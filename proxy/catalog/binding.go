package catalog

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Binding says how one table's ids are made.
type Binding struct {
	Table         string // as error texts name it
	Column        string
	AutoIncrement bool     // the server's own column has AUTO_INCREMENT
	Unsigned      bool     // the column takes no negative values
	Approximate   bool     // the column is a FLOAT or DOUBLE
	whole         bool     // it is of an integer type
	Transactional bool     // the table's engine can undo a statement
	Max           int64    // the largest id that the column's type holds
	Columns       []string // the table's columns that an INSERT without a column list fills, in order
	Sequence      sequence.Name
	OnExplicit    ExplicitPolicy
	Key           keyColumn
	Ticket        bool // INSERTs are answered with an id, and never run: see ticket.go
	generated
}

// generated is what a Binding says of a generator.
type generated struct {
	Generator *vschema.Generator  // nil: the ids are a sequence table's
	Numbers   *generate.Snowflake // of type snowflake
	Form      generate.Form       // of ids that are no numbers; 0 for numbers
	Required  bool                // the column is of the primary key, which has no NULL
	Counts    bool                // a column of the table has AUTO_INCREMENT
}

// ExplicitPolicy is what becomes of an id that a client wrote itself into a
// column that a sequence fills.
type ExplicitPolicy string

// The policies. A native AUTO_INCREMENT column goes on above such an id, as
// ExplicitAdvance does; Vitess's sequences do not learn of it, as with
// ExplicitIgnore.
const (
	ExplicitIgnore  ExplicitPolicy = "ignore"
	ExplicitWarn    ExplicitPolicy = "warn" // an id above the sequence is logged
	ExplicitAdvance ExplicitPolicy = "advance"
)

// Mode returns how values are judged on this table. On a table whose engine cannot
// undo a statement, STRICT_TRANS_TABLES is strict for the first row only: there
// no text is taken to be an error ("Strict SQL Mode" in the MySQL manual).
func (b *Binding) Mode(m parser.Mode) parser.Mode {
	m.Strict = m.Strict && b.Transactional
	m.Approximate = b.Approximate
	m.OnlyNull = b.Form != 0
	return m
}

// Judge corrects what a row says of its id by the column's type: an unsigned
// column takes a negative value for 0, unless that is an error.
func (b *Binding) Judge(slot parser.Slot, strict bool) parser.Slot {
	if b.Unsigned && !strict && slot.State == parser.Explicit && slot.HasValue && slot.Value < 0 {
		slot.State = parser.Open
	}
	if b.Form != 0 && b.Required && strict && slot.State == parser.Unknown {
		slot.State = parser.Explicit // the server refuses NULL
	}
	return slot
}

// Clip returns a row's own id as its column stores it, where that is no error.
func (b *Binding) Clip(id int64) int64 {
	switch {
	case !b.whole:
		return id
	case b.Unsigned:
		return min(max(id, 0), b.Max)
	}
	return min(max(id, -b.Max-1), b.Max)
}

// Unsupported refuses a form of statement on a sequenced table: it must not
// reach the server without its ids.
func Unsupported(form, table, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
		fmt.Sprintf("seqgate does not yet support %s on the sequenced table '%s'; %s", form, table, advice))
}
