package proxy

import (
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A user variable in the place of an id of a prepared statement decides at each
// execution. It stands for a parameter of seqgate's own, which the filled statement
// has and the client's does not. The client's own is never executed: MySQL reads the
// variable there in the type that it had at PREPARE, and a routine may change it.

// idVariables are the user variables of a prepared statement that are ids.
type idVariables struct {
	names [][]byte // as they were written
	at    []int    // where each stands among the parameters, these included
	rows  []int    // whose ids they are
}

// variablesOf finds the user variables that are ids in the INSERT in s.insert. Those
// of a text are judged at once, and it is reported whether there are any; those of a
// prepared statement are given, nil for none.
func (f *statementReader) variablesOf(sql []byte, b *catalog.Binding, prepared bool) (judged bool, bound *idVariables, err error) {
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
func (f *statementReader) findVariables(sql []byte, b *catalog.Binding) (*idVariables, error) {
	var v idVariables
	for row := range f.slots {
		slot := &f.slots[row]
		slot.Param += len(v.at)
		if slot.State != parser.Unknown {
			continue
		}
		name := f.insert.Variable(sql, row)
		switch {
		case name == nil:
			continue // it is refused for this
		case len(v.at) == maxOwnVariables:
			return nil, tooManyIDVariables(b)
		case readsDiagnostics(sql):
			return nil, diagnosticsBeside(b)
		}
		slot.State = parser.Param
		v.names, v.at, v.rows = append(v.names, slices.Clone(name)), append(v.at, slot.Param), append(v.rows, row)
	}
	if len(v.at) == 0 {
		return nil, nil
	}
	return &v, nil
}

// among puts the values of the variables where they stand among the parameters.
func among[T any](v *idVariables, params, values []T) []T {
	for i, at := range v.at {
		params = slices.Insert(params, at, values[i])
	}
	return params
}

// has reports whether a row's id is a user variable.
func (v *idVariables) has(row int) bool {
	if v == nil {
		return false
	}
	_, found := slices.BinarySearch(v.rows, row)
	return found
}

// index gives where the client's parameter of this index stands.
func (v *idVariables) index(i int) int {
	if v == nil {
		return i
	}
	for _, at := range v.at {
		if at <= i {
			i++
		}
	}
	return i
}

// withVariables gives the parameters of an execution, with what the variables hold
// now among them.
func (f *statementReader) withVariables(st *statement, params []wire.Param) ([]wire.Param, error) {
	if st.fill.bound == nil {
		return params, nil
	}
	held, err := f.askVariables(st.fill.bound.names)
	if err != nil {
		return nil, err
	}
	values := make([]wire.Param, len(held))
	for i, text := range held {
		values[i] = variableParam(text)
	}
	return among(st.fill.bound, params, values), nil
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
	if st.fill.bound == nil {
		return using, nil
	}
	copies, err := f.copyVariables(st.fill.bound.names)
	if err != nil {
		return nil, err
	}
	return among(st.fill.bound, using, copies), nil
}

func tooManyIDVariables(b *catalog.Binding) error {
	return catalog.Unsupported(fmt.Sprintf("more than %d user variables as ids in one statement", maxOwnVariables), b.Table, "insert fewer rows at once")
}

func diagnosticsBeside(b *catalog.Binding) error {
	return catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings beside a user variable as the id", b.Table, "read it with SELECT first")
}
