package catalog

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seqgate/seqgate/sequence"
)

// SequenceTable is what a server says of a table that a statement takes for a sequence.
type SequenceTable struct {
	Exists  bool
	Ours    bool // it is a sequence table
	Comment string
	Options sequence.Options // those that the comment keeps
}

// LookSequence asks a keyspace's server for a table, past what is kept: what was just made or dropped counts. The error is a
// *[DescribeError].
func LookSequence(ctx context.Context, k *Keyspace, name TableName) (found SequenceTable, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var kind string
	err = k.DB.QueryRowContext(ctx, "SELECT TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		name.Schema, name.Table).Scan(&kind, &found.Comment)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, &DescribeError{Table: name.Schema + "." + name.Table, Err: err}
	}
	found.Exists = true
	found.Options, found.Ours = sequence.ParseComment(found.Comment)
	found.Ours = found.Ours && kind == "BASE TABLE"
	return found, nil
}
