package proxy

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/param"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// planNext plans a SELECT NEXT n VALUES FROM|FOR s. A SELECT NEXT VALUE is a call to planCalls (see [parser.MayCall]): here come
// those that it left to the server, or could not read.
func (x *valueRunner) planNext(p textPlan, sql []byte) (textPlan, error) {
	ours := false
	err := x.planned(func() (err error) {
		p.next, ours, err = x.planner.Next(sql)
		return err
	})
	if ours && err == nil {
		p.kind, p.effect = plan.Next, 0
	}
	return p, err
}

// answerNext takes values and answers with the first of them: one row of one
// column, as Vitess does. binary says that a prepared statement asked.
func (x *valueRunner) answerNext(n plan.NextValues, binary bool) error {
	if n.Decode {
		return x.answerDecode(n.Key)
	}
	x.noteKind(meter.Next)
	if n.Call != parser.NextValue {
		v, err := x.callNumber(&n)
		if err != nil {
			return err
		}
		return x.replyNumbers(&n, v, 1, binary)
	}
	if err := x.checkCount(&n); err != nil {
		return err
	}
	ids, err := x.nextValues(n)
	if err != nil {
		return err
	}
	x.noteValue(n.Name, ids.Last())
	rows := int64(1)
	if n.Rows {
		rows = ids.N
	}
	return x.replyNumbers(&n, number{n: ids.First}, rows, binary)
}

func (x *valueRunner) nextValues(n plan.NextValues) (sequence.Range, error) {
	if err := x.mayTake(n.Name); err != nil {
		return sequence.Range{}, err
	}
	if n.Keyed {
		return x.nextOfKey(n)
	}
	if g := x.srv.generator(n.Name); g != nil && g.Segments == nil {
		return x.nextGenerated(g, n.Count)
	}
	seq, err := x.srv.cfg.Sequences.Get(n.Name)
	if err != nil {
		return sequence.Range{}, err
	}
	ids, err := seq.Next(x.spanContext(), n.Count)
	if errors.Is(err, sequence.ErrNoTable) || errors.Is(err, sequence.ErrNotSequence) {
		x.srv.catalog.Doubt(x.keyspace, n.Name)
	}
	x.srv.discard(n.Name, err)
	x.noteIDs(ids.N)
	return ids, err
}

// replyNumbers sends a result of one column: in the first row the number, in each
// further one the next.
func (x *valueRunner) replyNumbers(n *plan.NextValues, v number, rows int64, binaryRow bool) error {
	const chunk = wire.SmallBuffer - 64 // with room for a row
	count := []byte{1}
	if x.Capabilities&wire.CountsTell != 0 {
		count = append(count, wire.DefinitionsFollow)
	}
	b, seq := wire.AppendPacket(make([]byte, 0, 128), x.out.sequence, count)
	b, seq = wire.AppendPacket(b, seq, x.appendResultColumn(n))
	if !x.DeprecateEOF() {
		b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, x.out.more))
	}
	for ; rows > 0; rows-- {
		b, seq = wire.AppendPacket(b, seq, valueRow(v, binaryRow))
		v.n++
		if len(b) > chunk {
			if err := x.writeFront(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, x.out.more))
	x.out.sequence = seq
	return x.writeFront(b)
}

func valueRow(v number, binaryRow bool) []byte {
	const textNull, firstIsNull = 0xfb, 1 << 2 // "Text Resultset Row", "Binary Protocol Resultset Row" of the manual
	switch {
	case binaryRow && v.null:
		return []byte{0, firstIsNull}
	case binaryRow:
		return binary.LittleEndian.AppendUint64([]byte{0, 0}, uint64(v.n))
	case v.null:
		return []byte{textNull}
	}
	text := strconv.AppendInt([]byte{0}, v.n, 10)
	text[0] = byte(len(text) - 1)
	return text
}

// appendResultColumn returns the definition of the column of an answer: as Vitess
// gives it, or as MariaDB gives that of NEXTVAL(s), which may be NULL.
func (x *valueRunner) appendResultColumn(n *plan.NextValues) []byte {
	if n.Label == "" {
		return x.appendColumn(nil, "nextval", mysql.NOT_NULL_FLAG)
	}
	return x.appendColumn(nil, n.Label, 0)
}

// localStatements is where ids of statements begin that seqgate answers by
// itself; a server counts its own from 1.
const localStatements = 1 << 31

// answerPrepareNext answers the COM_STMT_PREPARE of a SELECT NEXT VALUE.
func (x *valueRunner) answerPrepareNext(st *statement) error {
	if x.clientStatementID == 0 && x.ownPrepared() >= maxPrepared { // those of a routed session are counted by the router
		return mysql.NewDefaultError(mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED, maxPrepared)
	}
	x.localID++
	st.id = localStatements + x.localID
	st.params = st.next.Params()
	x.remember(st)
	x.notePrepared(st.id)
	ok := binary.LittleEndian.AppendUint32([]byte{mysql.OK_HEADER}, x.idForClient(st.id))
	columns := x.preparedColumns(st.next)
	ok = append(ok, byte(len(columns)), 0, byte(st.params), 0, 0, 0, 0)
	if x.Has(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA) {
		ok = append(ok, wire.DefinitionsFollow)
	}
	b, seq := wire.AppendPacket(nil, x.out.sequence, ok)
	for range st.params {
		b, seq = wire.AppendPacket(b, seq, x.appendColumn(nil, "?", mysql.NOT_NULL_FLAG))
	}
	if st.params > 0 && !x.DeprecateEOF() {
		b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, false))
	}
	for _, column := range columns {
		b, seq = wire.AppendPacket(b, seq, column)
	}
	if !x.DeprecateEOF() {
		b, seq = wire.AppendPacket(b, seq, x.endOfRows(nil, false))
	}
	x.out.sequence = seq
	return x.writeFront(b)
}

// preparedColumns returns the definitions of the columns of a prepared statement's result.
func (x *valueRunner) preparedColumns(n *plan.NextValues) (columns [][]byte) {
	if !n.Decode {
		return [][]byte{x.appendResultColumn(n)}
	}
	for _, column := range decodeColumns() {
		columns = append(columns, column.Append(nil, x.Capabilities&wire.ClientExtendedMetadata != 0))
	}
	return columns
}

// readNext reads what an execution asks for: how many values, and of which key.
func (x *valueRunner) readNext(st *statement, payload []byte) error {
	n := st.next
	if n.Params() == 0 {
		return nil
	}
	params, err := x.readExecute(st, payload)
	if err != nil {
		return err
	}
	if n.CountParam {
		v := param.Slot(&params[0], x.State.Mode, false)
		if !v.HasValue || v.Value < 1 {
			return mysql.NewError(mysql.ER_WRONG_ARGUMENTS,
				"the number of values asked of sequence "+n.Name.String()+" must be an integer of 1 or more")
		}
		n.Count = v.Value
	}
	if n.KeyParam {
		k := x.keyOf(&params[st.params-1]) // query attributes may follow
		if k.State != parser.Explicit && n.Decode {
			return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, "SEQGATE_DECODE: bind an integer or a string")
		}
		if k.State != parser.Explicit {
			return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, "the key of sequence "+n.Name.String()+" must be an integer or a string")
		}
		n.Key = k.Text
	}
	return nil
}

// takeFrom takes the first value of a block, and keeps the rest in taken.
func (x *valueRunner) takeFrom(taken map[sequence.Name]sequence.Range, name sequence.Name, block sequence.Range) number {
	taken[name] = sequence.Range{First: block.First + 1, N: block.N - 1}
	x.noteValue(name, block.First)
	return number{n: block.First}
}

// callValues makes the calls of a statement, in order of appearance. The values of
// one sequence are one block, unless the statement also moves sequences.
func (x *valueRunner) callValues(p *plan.Calls) ([]number, error) {
	wanted := make(map[sequence.Name]int64)
	moves := false
	for i, c := range p.Stmt.Calls {
		if p.Known[i] && c.Kind == parser.NextValue {
			wanted[p.Names[i]]++
		}
		moves = moves || p.Known[i] && c.Kind == parser.SetValue
	}
	values := make([]number, len(p.Stmt.Calls))
	taken := make(map[sequence.Name]sequence.Range)
	for i, c := range p.Stmt.Calls {
		if !p.Known[i] {
			continue
		}
		name := p.Names[i]
		var err error
		switch block := taken[name]; {
		case c.Kind != parser.NextValue:
			values[i], err = x.callNumber(&plan.NextValues{Name: name, Call: c.Kind, Value: c.Value, Next: c.Next})
		case block.N == 0:
			n := wanted[name]
			if g := x.srv.generator(name); moves || g != nil && g.Snowflake != nil {
				n = 1
			}
			if block, err = x.nextValues(plan.NextValues{Name: name, Count: n}); err == nil {
				values[i] = x.takeFrom(taken, name, block)
			}
		default:
			values[i] = x.takeFrom(taken, name, block)
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}
