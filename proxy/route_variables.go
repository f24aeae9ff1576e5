package proxy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/variables"
)

// Some settings of the client's are for the answer that it gets, not for what each
// shard gives to make it. Those are set to something else on the connections while that is read.

// sessionVariable is a variable that connections have another value of for a while.
type sessionVariable struct{ name, value string }

const (
	selectLimit = "sql_select_limit"
	noLimit     = "18446744073709551615"
)

// withSessionVariables runs something while variables of the session have other values on some connections.
// run must have read every connection's answer when it returns, unless its error is of a
// connection: then the connections are given up.
func (r *sessionRouter) withSessionVariables(conns []*executor, run func() error, changed ...sessionVariable) error {
	names, values := make([]string, len(changed)), make([]string, len(changed))
	for i, v := range changed {
		names[i], values[i] = "@@SESSION."+v.name, v.value
	}
	former, err := variables.Read(&conns[0].Session, names) // all have the same
	if err != nil {
		return err
	}
	if err := everywhere(conns, always(setText(changed, values))); err != nil {
		return err
	}
	for i := range former {
		values[i] = former[i].Literal(false)
	}
	err = run()
	if isConnectionFailure(err) {
		return err
	}
	if after := errors.Join(r.keepWarnings(conns), everywhere(conns, always(setText(changed, values)))); after != nil {
		return &backend.LostError{Err: fmt.Errorf("%w: %w", backend.ErrAnswerBegun, after)} // the client has its answer
	}
	return err
}

func setText(changed []sessionVariable, values []string) string {
	texts := make([]string, len(changed))
	for i, v := range changed {
		texts[i] = "SESSION " + v.name + " = " + values[i]
	}
	return "SET " + strings.Join(texts, ", ")
}

// underSelectLimit runs a SELECT on several connections, of which the client gets as many rows
// at most as run is told: what sql_select_limit says, if the session has set that and
// the SELECT has no LIMIT of its own (MySQL manual, "sql_select_limit"). The shards give
// all their rows where the first ones of each are not the first of all.
func (r *sessionRouter) underSelectLimit(conns []*executor, how *parser.Scatter, run func(most uint64) error) error {
	most := uint64(math.MaxUint64)
	if !r.settings.Has(selectLimit) {
		return run(most)
	}
	if how.Limit == nil {
		v, err := variables.Read(&conns[0].Session, []string{"@@SESSION." + selectLimit})
		if err != nil {
			return err
		}
		if most, err = strconv.ParseUint(v[0].Digits(), 10, 64); err != nil {
			return fmt.Errorf("read %s: %w", selectLimit, err)
		}
		if !how.Combine && how.Sort == nil {
			return run(most)
		}
	}
	return r.withSessionVariables(conns, func() error { return run(most) }, sessionVariable{selectLimit, noLimit})
}

// increment returns the distance in a session in front of shards.
func (r *sessionRouter) increment(shards []*catalog.Keyspace) (n int64, err error) {
	held, ok, err := r.settings.Latest(catalog.IncrementVariable)
	if err != nil {
		return 0, err
	}
	if !ok {
		for _, shard := range shards[:min(len(shards), 3)] { // the first may be away
			if n, err = r.s.srv.catalog.Increment(r.s.ctx, shard); err == nil {
				break
			}
		}
		return n, err
	}
	_, value, _ := strings.Cut(held, "=")
	numbers := numbersIn([]byte(value)) // which may stand in a CAST
	if len(numbers) != 1 {
		return 0, fmt.Errorf("the session's %s cannot be read from %q", catalog.IncrementVariable, held)
	}
	return int64(numbers[0]), nil
}
