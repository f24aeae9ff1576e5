//go:build !slim

package demoengine

import (
	"encoding/binary"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// weightString is MySQL's WEIGHT_STRING(), which the engine lacks and by which seqgate orders the texts of several shards
// as their collation does: bytes that order as the text, NULL for what is no text (MySQL manual, "WEIGHT_STRING()").
type weightString struct {
	expression.UnaryExpression
}

func newWeightString(of sql.Expression) sql.Expression {
	return &weightString{expression.UnaryExpression{Child: of}}
}

// FunctionName implements sql.FunctionExpression.
func (*weightString) FunctionName() string { return "weight_string" }

// Description implements sql.FunctionExpression.
func (*weightString) Description() string { return "returns bytes that order as the text." }

// String implements sql.Expression.
func (w *weightString) String() string { return fmt.Sprintf("weight_string(%s)", w.Child) }

// Type implements sql.Expression.
func (*weightString) Type() sql.Type { return types.LongBlob }

// CollationCoercibility implements sql.CollationCoercible.
func (*weightString) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 4
}

// WithChildren implements sql.Expression.
func (w *weightString) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(children), 1)
	}
	return newWeightString(children[0]), nil
}

// Eval implements sql.Expression.
func (w *weightString) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	value, err := w.Child.Eval(ctx, row)
	if err != nil || value == nil || !types.IsText(w.Child.Type()) {
		return nil, err
	}
	text, _, err := types.LongText.Convert(ctx, value)
	if err != nil {
		return nil, err
	}
	collation, _ := sql.GetCoercibility(ctx, w.Child)
	if collation == sql.Collation_binary {
		return []byte(text.(string)), nil
	}
	return weigh(collation.Sorter(), text.(string)), nil
}

// weigh writes a weight for each character, the greater the later it is in the collation's order.
func weigh(weight sql.CollationSorter, text string) []byte {
	var weights []byte
	for _, r := range text {
		weights = binary.BigEndian.AppendUint32(weights, uint32(weight(r)))
	}
	return weights
}

// left is the engine's LEFT() that also takes numbers, as MySQL's does: seqgate asks for the LEFT() of what it orders by,
// whatever its type.
type left struct {
	function.Left
}

func newLeft(of, length sql.Expression) sql.Expression {
	return left{function.NewLeft(of, length).(function.Left)}
}

// Eval implements sql.Expression.
func (l left) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	of, length := l.Children()[0], l.Children()[1]
	if types.IsText(of.Type()) {
		return l.Left.Eval(ctx, row)
	}
	return function.NewLeft(expression.NewConvert(of, expression.ConvertToChar), length).Eval(ctx, row)
}

// WithChildren implements sql.Expression.
func (l left) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(children), 2)
	}
	return newLeft(children[0], children[1]), nil
}
