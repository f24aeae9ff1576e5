package proxy

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A user variable in the place of an id of a prepared statement decides at each
// execution. It stands for a parameter of seqgate's own, which the filled statement
// has and the client's does not. The client's own is never executed: MySQL reads the
// variable there in the type that it had at PREPARE, and a routine may change it.

// among puts the values of the variables where they stand among the parameters.
func among[T any](v *plan.IDVariables, params, values []T) []T {
	for i, at := range v.At {
		params = slices.Insert(params, at, values[i])
	}
	return params
}

// withVariables returns the parameters of an execution, with what the variables hold
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

// variableParam returns what askVariable gave as a parameter. Texts are numbers to
// the column, whatever character set they are in.
func variableParam(held string) wire.Param {
	if held == "" {
		return wire.Param{Type: uint16(mysql.MYSQL_TYPE_NULL), Null: true}
	}
	return wire.Param{Type: uint16(mysql.MYSQL_TYPE_VAR_STRING), Value: mysql.PutLengthEncodedString([]byte(held[1:]))}
}

// usingVariables returns the values of an EXECUTE in SQL, with copies of the variables
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
