package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// NextValues is a SELECT NEXT VALUE, or a SELECT of one call as NEXTVAL(s), that seqgate answers; or the
// SELECT SEQGATE_DECODE(id) of a prepared statement, where Key is the id.
type NextValues struct {
	Name       sequence.Name
	Count      int64 // values asked for
	CountParam bool  // ... by a parameter of the execution
	Rows       bool  // each value is a row; else there is one row, of the first

	Call        parser.CallKind
	Label       string // of the column; "" for Vitess's form
	Value, Next int64  // of SETVAL

	Decode   bool
	Keyed    bool
	Key      string
	KeyParam bool // the key is a parameter of the execution
}

// Params counts the parameters of an execution.
func (n *NextValues) Params() (count int) {
	for _, isParam := range []bool{n.CountParam, n.KeyParam} {
		if isParam {
			count++
		}
	}
	return count
}

// Calls are the calls of sequences in a statement, as NEXTVAL(s), in whose places seqgate puts values.
type Calls struct {
	Stmt  parser.CallStmt
	Names []sequence.Name // of each call; the zero Name for LASTVAL()
	Known []bool          // of each call: others are the server's

	// Whole: the statement asks for values and nothing else, which is Next. No server hears of it.
	Whole bool
	Next  NextValues
}

// Next plans a SELECT NEXT [n] VALUE[S] FROM|FOR s. It is not ours where the server has a sequence of its own (MariaDB), or
// something else, of that name.
func (p *Planner) Next(sql []byte) (n NextValues, ours bool, err error) {
	mode, err := p.reading(sql)
	if err != nil {
		return n, false, err
	}
	stmt, syntax := parser.ParseNext(sql, mode)
	return p.next(stmt, syntax)
}

// next plans what was read. For a text that names a sequence of seqgate's the error of reading it is the client's.
func (p *Planner) next(stmt parser.NextStmt, syntax error) (n NextValues, ours bool, err error) {
	if syntax != nil && stmt.Sequence == "" {
		return n, false, syntax
	}
	if stmt.HasKey {
		if err := p.settings(); err != nil {
			return n, false, err
		}
	}
	source, err := p.source(stmt.Schema, stmt.Sequence, NeedsSource)
	if err == nil {
		err = source.Err
	}
	if err != nil || !source.Ours {
		return n, false, err
	}
	n = NextValues{Name: source.Name, Count: stmt.N, CountParam: stmt.Param, Keyed: stmt.HasKey, Key: stmt.Key, KeyParam: stmt.KeyParam}
	return n, true, syntax
}

// Calls plans the calls of a text that seqgate answers; nil when there are none. A call where a value would not be what it
// gives is refused. gotValues says that the session has got values: LASTVAL() may be a function of the client's own. What is
// Whole may be used until the next plan.
func (p *Planner) Calls(sql []byte, gotValues bool) (*Calls, error) {
	mode, err := p.reading(sql)
	if err != nil {
		return nil, err
	}
	if parser.Sniff(sql) == parser.Next {
		var syntax *parser.SyntaxError
		if stmt, err := parser.ParseNext(sql, mode); !errors.As(err, &syntax) {
			next, ours, err := p.next(stmt, err)
			if err != nil || !ours {
				return nil, err
			}
			p.whole = Calls{Whole: true, Next: next}
			return &p.whole, nil
		}
	}
	c := &Calls{Stmt: parser.FindCalls(sql, mode)}
	c.Names, c.Known = make([]sequence.Name, len(c.Stmt.Calls)), make([]bool, len(c.Stmt.Calls))
	ours := false
	for i := range c.Stmt.Calls {
		if c.Names[i], c.Known[i], err = p.call(&c.Stmt.Calls[i]); err != nil {
			return nil, err
		}
		ours = ours || c.Known[i] && (c.Stmt.Calls[i].Sequence.Name != "" || gotValues)
	}
	if !ours {
		return nil, nil
	}
	if c.Stmt.Alone {
		c.Whole, c.Next = true, c.alone()
	}
	return c, nil
}

// call finds the sequence of a call. It is not known when the call is the server's: of a sequence of its own, of a function or
// column, or of nothing.
func (p *Planner) call(c *parser.ValueCall) (name sequence.Name, known bool, err error) {
	if c.Sequence.Name == "" {
		return name, true, nil
	}
	source, err := p.source(c.Sequence.Schema, c.Sequence.Name, NeedsCallSource)
	if err == nil {
		err = source.Err
	}
	switch {
	case err != nil || !source.Ours:
		return name, false, err
	case c.Fault == "" || c.Kind == parser.LastValue && !c.Dotted:
		return source.Name, true, nil
	case c.Dotted:
		return name, false, nil // a column of a table or an alias, or the server's error
	}
	return name, false, refuseCall(c.Fault, source.Name)
}

// source tells what a name stands for, as the session names it.
func (p *Planner) source(schema, table string, fact Fact) (catalog.Source, error) {
	if schema == "" {
		known, err := p.database()
		if err == nil && !known {
			err = p.settings()
		}
		if err != nil {
			return catalog.Source{}, err
		}
		schema = p.Session.Database
	}
	source, known := p.Tables.Source(schema, table, fact == NeedsCallSource)
	if !known {
		return source, &Missing{Fact: fact, Table: catalog.TableName{Schema: schema, Table: table}}
	}
	return source, nil
}

// refuseCall refuses a call in a place where one value would stand for several.
func refuseCall(fault string, name sequence.Name) error {
	instead := fmt.Sprintf("take the values first (SELECT NEXT n VALUES FROM %s), and write them as literals", name.Table)
	if strings.HasPrefix(fault, "SETVAL") {
		instead = "run SELECT SETVAL alone with literals, or seqgate seq set"
	}
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf("seqgate does not yet support %s (sequence '%s'); %s", fault, name, instead))
}

// alone returns the plan of a SELECT of one call alone.
func (c *Calls) alone() NextValues {
	call := &c.Stmt.Calls[0]
	n := NextValues{Name: c.Names[0], Count: 1, Call: call.Kind, Label: c.Stmt.Label, Value: call.Value, Next: call.Next}
	if c.Stmt.HasCount {
		n.Rows, n.Count, n.CountParam = true, c.Stmt.Count, c.Stmt.CountParam
	}
	return n
}
