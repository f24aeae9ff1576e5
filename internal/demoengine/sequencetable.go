//go:build !slim

package demoengine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// provider is the engine's catalogue over the memory databases, with sequence tables and some
// functions of our own.
type provider struct {
	*memory.DbProvider
}

// Database implements sql.DatabaseProvider.
func (p *provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	db, err := p.DbProvider.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	return wrap(db), nil
}

// AllDatabases implements sql.DatabaseProvider.
func (p *provider) AllDatabases(ctx *sql.Context) []sql.Database {
	dbs := p.DbProvider.AllDatabases(ctx)
	for i, db := range dbs {
		dbs[i] = wrap(db)
	}
	return dbs
}

// Function implements sql.FunctionProvider; the engine asks here first.
func (p *provider) Function(_ *sql.Context, name string) (sql.Function, bool) {
	switch strings.ToLower(name) {
	case (*function.LastInsertId).FunctionName(nil):
		return sql.FunctionN{Name: name, Fn: newLastInsertID}, true
	case (*weightString).FunctionName(nil):
		return sql.Function1{Name: name, Fn: newWeightString}, true
	case function.Left{}.FunctionName():
		return sql.Function2{Name: name, Fn: newLeft}, true
	}
	return nil, false
}

func wrap(db sql.Database) sql.Database {
	if m, ok := db.(*memory.Database); ok {
		return database{m}
	}
	return db
}

// database creates sequence tables as sequenceTable and all others as the memory engine does.
type database struct {
	*memory.Database
}

// sequenceTable is a table outside of all transactions: every statement works on its rows in place,
// its changes are there at once, and no ROLLBACK takes them back. An ordinary table of the engine is
// copied by each transaction that so much as lists it, and written back at COMMIT, with the next_id
// of then: ids given out meanwhile would be given out again.
type sequenceTable struct {
	rows
	comment string
}

// rows is all that a sequence table can do: ALTER TABLE would put an ordinary table in its place.
type rows interface {
	memory.MemTable
	sql.PrimaryKeyTable
	sql.InsertableTable
	sql.ReplaceableTable
	sql.UpdatableTable
	sql.DeletableTable
	sql.TruncateableTable
}

// Comment implements sql.CommentedTable; a memory.Table of this kind cannot keep one itself.
func (t sequenceTable) Comment() string { return t.comment }

// CreateTable implements sql.TableCreator.
func (d database) CreateTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID, comment string) error {
	if !isSequence(schema.Schema) {
		return d.Database.CreateTable(ctx, name, schema, collation, comment)
	}
	if _, exists, err := d.GetTableInsensitive(ctx, name); err != nil {
		return err
	} else if exists {
		return sql.ErrTableAlreadyExists.New(name)
	}
	table := memory.NewLocalTable(d.Database, name, schema, d.GetForeignKeyCollection())
	d.AddTable(name, sequenceTable{table, comment})
	return nil
}

// CreateIndexedTable hides the method of that name that sql.IndexedTableCreator asks for: a table with
// a PRIMARY KEY clause of its own then comes to CreateTable too, and does not lose its comment.
func (database) CreateIndexedTable() {}

// DropTable implements sql.TableDropper.
func (d database) DropTable(ctx *sql.Context, name string) error {
	if _, ok := d.Tables()[name].(sequenceTable); !ok {
		return d.Database.DropTable(ctx, name)
	}
	d.DeleteTable(name)
	return nil
}

// RenameTable implements sql.TableRenamer. Sequence tables keep their names.
func (d database) RenameTable(ctx *sql.Context, from, to string) error {
	if _, ok := d.Tables()[from].(sequenceTable); ok {
		return sql.ErrUnsupportedFeature.New("renaming a sequence table")
	}
	return d.Database.RenameTable(ctx, from, to)
}

// isSequence tells a sequence table by Vitess's columns.
func isSequence(schema sql.Schema) bool {
	return schema.IndexOfColName("next_id") >= 0 && schema.IndexOfColName("cache") >= 0
}
