package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

func (f *insertWriter) appendExecute(dst []byte, id uint32, flags byte, params []wire.Param) []byte {
	flags, named := f.counted(flags)
	return wire.AppendExecute(dst, id, flags, params, named)
}

// readExecute reads the parameters of an execution.
func (f *insertWriter) readExecute(st *statement, payload []byte) ([]wire.Param, error) {
	const header, countAvailable = 10, 8
	r := wire.ParamReader{Data: payload, At: header}
	if len(payload) < header {
		return nil, malformedExecute()
	}
	named := f.Has(mysql.CLIENT_QUERY_ATTRIBUTES)
	count := uint64(st.params)
	if named && payload[5]&countAvailable != 0 {
		count = r.Number()
	} else if named && st.params > 0 {
		return nil, uncountedExecute()
	}
	if count == 0 && st.params == 0 && !r.Bad {
		return nil, nil
	}
	params := r.ReadParams(count, named, st.types, st.long)
	if r.Bad || len(params) < st.params {
		return nil, malformedExecute()
	}
	st.types = st.types[:0]
	for _, p := range params {
		st.types = append(st.types, wire.Param{Type: p.Type, Name: p.Name})
	}
	return params, nil
}

// counted returns the flags of an execution: with query attributes agreed on, the
// count of its parameters has to be told, and each has a name.
func (f *insertWriter) counted(flags byte) (_ byte, named bool) {
	const countAvailable = 8
	if named = f.Has(mysql.CLIENT_QUERY_ATTRIBUTES); named {
		flags |= countAvailable
	}
	return flags, named
}
