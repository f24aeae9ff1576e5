package proxy

import (
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A user variable in the place of an id of a prepared statement decides at each
// execution. It stands for a parameter of seqgate's own, which the filled statement
// has and the client's does not. The client's own is never executed: MySQL reads the
// variable there in the type that it had at PREPARE, and a routine may change it.

// variablesOf finds the user variables that are ids in the INSERT in s.insert. Those
// of a text are judged at once, and it is reported whether there are any; those of a
// prepared statement are given, nil for none.
func (f *statementReader) variablesOf(sql []byte, b *catalog.Binding, prepared bool) (judged bool, bound *plan.IDVariables, err error) {
	if b.Approximate {
		return false, nil, nil // they are refused: ROUND takes a half for 1
	}
	if prepared {
		bound, err = f.findVariables(sql, b)
	} else {
		judged, err = f.resolveVariables(sql, b)
	}
	return judged, bound, err
}

// findVariables notes the rows of the INSERT in s.insert whose ids are user
// variables, nil for none, and makes parameters of them in s.slots.
func (f *statementReader) findVariables(sql []byte, b *catalog.Binding) (*plan.IDVariables, error) {
	var v plan.IDVariables
	for row := range f.slots {
		slot := &f.slots[row]
		slot.Param += len(v.At)
		if slot.State != parser.Unknown {
			continue
		}
		name := f.insert.Variable(sql, row)
		switch {
		case name == nil:
			continue // it is refused for this
		case len(v.At) == plan.MaxOwnVariables:
			return nil, tooManyIDVariables(b)
		case plan.ReadsDiagnostics(sql):
			return nil, diagnosticsBeside(b)
		}
		slot.State = parser.Param
		v.Names, v.At, v.Rows = append(v.Names, slices.Clone(name)), append(v.At, slot.Param), append(v.Rows, row)
	}
	if len(v.At) == 0 {
		return nil, nil
	}
	return &v, nil
}

// among puts the values of the variables where they stand among the parameters.
func among[T any](v *plan.IDVariables, params, values []T) []T {
	for i, at := range v.At {
		params = slices.Insert(params, at, values[i])
	}
	return params
}

// withVariables gives the parameters of an execution, with what the variables hold
// now among them.
func (f *statementReader) withVariables(st *statement, params []wire.Param) ([]wire.Param, error) {
	if st.fill.Bound == nil {
		return params, nil
	}
	held, err := f.askVariables(st.fill.Bound.Names)
	if err != nil {
		return nil, err
	}
	values := make([]wire.Param, len(held))
	for i, text := range held {
		values[i] = variableParam(text)
	}
	return among(st.fill.Bound, params, values), nil
}

// variableParam gives what askVariable gave as a parameter. Texts are numbers to
// the column, whatever character set they are in.
func variableParam(held string) wire.Param {
	if held == "" {
		return wire.Param{Type: uint16(mysql.MYSQL_TYPE_NULL), Null: true}
	}
	return wire.Param{Type: uint16(mysql.MYSQL_TYPE_VAR_STRING), Value: mysql.PutLengthEncodedString([]byte(held[1:]))}
}

// usingVariables gives the values of an EXECUTE in SQL, with copies of the variables
// among them.
func (f *statementReader) usingVariables(st *statement, using [][]byte) ([][]byte, error) {
	if st.fill.Bound == nil {
		return using, nil
	}
	copies, err := f.copyVariables(st.fill.Bound.Names)
	if err != nil {
		return nil, err
	}
	return among(st.fill.Bound, using, copies), nil
}

func tooManyIDVariables(b *catalog.Binding) error {
	return catalog.Unsupported(fmt.Sprintf("more than %d user variables as ids in one statement", plan.MaxOwnVariables), b.Table, "insert fewer rows at once")
}

func diagnosticsBeside(b *catalog.Binding) error {
	return catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings beside a user variable as the id", b.Table, "read it with SELECT first")
}
