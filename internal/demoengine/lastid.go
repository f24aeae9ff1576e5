//go:build !slim

package demoengine

import (
	"bytes"
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// answer holds a statement's results until its locks are free: a client that reads slowly, or sends
// another statement on a second connection meanwhile, must not stop the engine.
type answer struct {
	results []result
	lastID  int64 // of the last LAST_INSERT_ID(expr)
	setID   bool  // whether there was one
	dropped bool  // nobody asks for the rows: the statement was a DO
}

type result struct {
	*sqltypes.Result
	more bool
}

type answerKey struct{}

// watch returns a context in which the statement's LAST_INSERT_ID(expr) are noted in a.
func (a *answer) watch(ctx context.Context) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// collect keeps a result. The engine reuses the memory of row values when the statement ends.
func (a *answer) collect(r *sqltypes.Result, more bool) error {
	if a.dropped {
		r = &sqltypes.Result{}
	}
	for _, row := range r.Rows {
		for i, v := range row {
			row[i] = sqltypes.MakeTrusted(v.Type(), bytes.Clone(v.Raw()))
		}
	}
	a.results = append(a.results, result{r, more})
	return nil
}

// send passes the results on. The insert id of an OK packet is the value of LAST_INSERT_ID(expr)
// where the statement had one, as in MySQL
// (https://dev.mysql.com/doc/c-api/8.4/en/mysql-insert-id.html); the engine sends 0.
func (a *answer) send(to mysql.ResultSpoolFn) error {
	for _, r := range a.results {
		if a.setID && len(r.Fields) == 0 {
			r.InsertID = uint64(a.lastID)
		}
		if err := to(r.Result, r.more); err != nil {
			return err
		}
	}
	return nil
}

// lastInsertID is the engine's LAST_INSERT_ID that also notes its argument in the answer.
type lastInsertID struct {
	*function.LastInsertId
}

func newLastInsertID(args ...sql.Expression) (sql.Expression, error) {
	f, err := function.NewLastInsertId(args...)
	if err != nil {
		return nil, err
	}
	return lastInsertID{f.(*function.LastInsertId)}, nil
}

// Eval implements sql.Expression.
func (f lastInsertID) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.LastInsertId.Eval(ctx, row)
	if id, ok := v.(int64); ok && err == nil && f.Child != nil {
		if a, ok := ctx.Value(answerKey{}).(*answer); ok {
			a.lastID, a.setID = id, true
		}
	}
	return v, err
}

// WithChildren implements sql.Expression.
func (f lastInsertID) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	return newLastInsertID(children...)
}
