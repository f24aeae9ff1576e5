package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// used returns the first id above those of a sequence in one column; 1 for a column that can hold none: it is missing, or of
// a type that no sequence fills. Its own statements are refused, and say so; those of other tables go on.
func (p located) used(ctx context.Context) (int64, error) {
	t, ok := p.server.table(p.Table)
	if !ok {
		return 1, nil
	}
	column, ok := columnOf(t, p.column)
	if !ok || !column.TakesIDs() {
		return 1, nil
	}
	used, err := p.server.ReadUsedIDs(ctx, p.Table, column)
	if err != nil {
		return 0, err
	}
	return used.Next()
}

// SeedError makes what firstFree fails with an error of the sequence, unless the server may answer otherwise later: then who
// waits for ids is told at once.
func SeedError(name sequence.Name, err error) error {
	var answer *mysql.MySQLError
	if err == nil || unreachable(err) || errors.As(err, &answer) {
		return err
	}
	return &sequence.Error{Kind: sequence.ErrNoTable, Sequence: name.String(), Cause: err,
		Text: fmt.Sprintf("cannot be made: %v", err)}
}
