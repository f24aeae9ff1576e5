package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
)

// lastValues are the values that a session got last.
type lastValues struct {
	of     map[sequence.Name]int64
	latest sequence.Name // the sequence that the latest of all is from

	may   map[sequence.Name]bool // those that the account may take values from: see mayTake
	mayAs *catalog.Account       // of the connection with which that was asked: another one may be another account's, behind a reload
}

// noteValue notes the last value that the session got from a sequence.
func (x *valueRunner) noteValue(name sequence.Name, value int64) {
	if x.values.of == nil {
		x.values.of = make(map[sequence.Name]int64)
	}
	x.values.of[name], x.values.latest = value, name
}

// lastValue returns the last value that the session got from a sequence, of any with
// the zero Name; NULL before the first.
func (x *valueRunner) lastValue(name sequence.Name) number {
	if name == (sequence.Name{}) {
		name = x.values.latest
	}
	n, ok := x.values.of[name]
	return number{n: n, null: !ok}
}

// callNumber returns what a call gives that takes no value.
func (x *valueRunner) callNumber(n *plan.NextValues) (number, error) {
	if n.Call == parser.LastValue {
		return x.lastValue(n.Name), nil
	}
	if g := x.srv.generator(n.Name); g != nil {
		return number{}, refuseGenerator(g, "SETVAL", "its ids follow the clock, or another system's counter, which is moved there")
	}
	if err := x.maySet(n.Name); err != nil {
		return number{}, err
	}
	seq, err := x.srv.cfg.Sequences.Get(n.Name)
	if err != nil {
		return number{}, err
	}
	moved, err := seq.SetNext(x.ctx, n.Next)
	return number{n: n.Value, null: !moved}, err
}
