package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// INSERT ... SELECT into a sequenced table: the rows stay in the server. It is
// asked how many ids the query needs, by a statement that reads the rows as the
// INSERT does; then the INSERT is sent with the query's rows numbered from the
// first id of a block on. Rows may come in between. One beyond the block makes the
// whole statement fail, and it is counted again.

// insertQuery is such a statement under way.
type insertQuery struct {
	sql        []byte
	attributes []byte // what stands before the text of a COM_QUERY
	prepared   bool
	params     []wire.Param // of an execution; query attributes stand behind them
	own        int          // how many of those are the statement's

	fill      plan.Fill
	explained bool // the server has read the client's own text, and would run it
}

// queryAttempts is how often the rows of a query are counted anew when more came
// in between.
const queryAttempts = 5

// insertFromQuery runs the statement and answers it.
func (x *insertRunner) insertFromQuery(q *insertQuery, t catalog.TableName) error {
	if q.fill.Upsert {
		// A name that is ambiguous beside the query's own is not, once that is wrapped.
		if err := x.explainQuery(q); err != nil {
			return err
		}
	}
	if err := x.checkQueryParams(q); err != nil {
		return err
	}
	if err := x.checkQueryTypes(q); err != nil {
		return err
	}
	for attempt := range int64(queryAttempts) {
		if err := x.countQuery(q, attempt); err != nil {
			return x.queryError(q, err)
		}
		ok, err := x.fillQuery(q)
		if !x.overran(err) {
			return x.answerQuery(q, t, ok, err)
		}
		if isInexact(err) {
			return catalog.Unsupported("INSERT ... SELECT with a FLOAT of many digits as the value of '"+q.fill.Binding.Column+"'", q.fill.Binding.Table, "CAST it AS DECIMAL")
		}
		if !q.fill.Binding.Transactional && x.planner.Stmt.HasOwn() {
			return mysql.NewError(mysql.ER_CHECKREAD, fmt.Sprintf(
				"more rows came than were counted while INSERT ... SELECT filled table '%s', whose engine cannot undo the rows that it has got; look at them before you repeat the statement", q.fill.Binding.Table))
		}
	}
	return mysql.NewError(mysql.ER_CHECKREAD, fmt.Sprintf(
		"the rows that INSERT ... SELECT reads for table '%s' changed each time between counting and inserting them; repeat it in a REPEATABLE READ transaction, or lock what it reads", q.fill.Binding.Table))
}

// queryReach takes the place of plan.OwnReach once the server has begun with the statement.
const queryReach = 1 << 20

// countQuery asks how many ids the query needs, and takes them. A further attempt
// takes more than that.
func (f *queryFiller) countQuery(q *insertQuery, attempt int64) error {
	p := &q.fill
	n, err := f.askQuery(q, parser.QueryOpen)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("the server did not tell how many rows the query of an INSERT into '%s' gives", p.Binding.Table)
	}
	p.Open = int64(n - 1)
	if p.Open > plan.OwnReach && !q.explained {
		// Counting needs no right on the table.
		if err := f.explainQuery(q); err != nil {
			return err
		}
	}
	if attempt > 0 {
		p.Reach = queryReach
		p.Open += p.Open/8*attempt*attempt + 64*attempt
	}
	if f.planner.Stmt.HasOwn() {
		if err := f.askOwn(q); err != nil {
			return err
		}
	}
	return f.takeIDs(p, nil, nil)
}

// askOwn asks for the least and the largest of the ids that rows bring along.
func (f *queryFiller) askOwn(q *insertQuery) error {
	highest, err := f.askQuery(q, parser.QueryHighest)
	if err != nil {
		return err
	}
	lowest := highest
	if highest > 0 {
		if lowest, err = f.askQuery(q, parser.QueryLowest); err != nil {
			return err
		}
	}
	p := &q.fill
	p.Lowest, p.Highest = int64(lowest), int64(highest)
	p.Explicit, p.HasExplicit = p.Highest, p.Highest > 0 && p.Open == 0
	return nil
}

// askQuery asks the server a question of the query's rows, in a statement that
// reads them with the same locks as the INSERT. The answer comes by way of
// LAST_INSERT_ID(), which is set back later.
func (f *queryFiller) askQuery(q *insertQuery, ask parser.QueryQuestion) (uint64, error) {
	if !q.fill.Wrap {
		if err := f.RestoreLastID(); err != nil {
			return 0, err
		}
	}
	text := f.planner.Stmt.AppendQueryCount(nil, q.sql, ask, f.negativeOpen(&q.fill))
	inQuery := slices.Concat(q.params[:min(len(q.params), f.planner.Stmt.QueryParams())], q.params[q.own:])
	ok, err := f.runQuery(q.prepared, text, []byte(f.NoAttributes()), inQuery)
	if err != nil {
		return 0, err
	}
	f.SetLastID(f.State.LastID, ok.InsertID)
	return ok.InsertID, nil
}

// negativeOpen reports whether a negative id is stored as 0, and so is an open one.
func (f *queryFiller) negativeOpen(p *plan.Fill) bool {
	return p.Binding.Unsigned && (!p.Binding.Mode(f.State.Mode).Strict || p.Ignore)
}

// fillQuery sends the statement with its ids.
func (f *queryFiller) fillQuery(q *insertQuery) (wire.OK, error) {
	p := &q.fill
	if !p.Wrap {
		if err := f.RestoreLastID(); err != nil {
			return wire.OK{}, err
		}
	}
	plain := !p.Binding.AutoIncrement
	text := f.planner.Stmt.AppendQueryFilled(nil, q.sql, parser.QueryFill{
		First: p.First, Block: p.Open, Step: p.Stride(), Lowest: p.Lowest, Highest: p.Highest, Among: p.TakesAmong(),
		Wrap: p.Wrap, WrapOwn: p.Wrap && p.Open == 0 && plain,
		CountFirst: !p.Binding.Transactional, NegativeOpen: f.negativeOpen(p),
		TellUpdated: p.Upsert && p.Wrap && (p.Open > 0 || plain),
	})
	return f.runQuery(q.prepared, text, q.attributes, q.params)
}

// runQuery runs a text that was made of the statement, and reads its OK packet.
func (f *queryFiller) runQuery(prepared bool, text, attributes []byte, params []wire.Param) (wire.OK, error) {
	if !prepared {
		if err := f.Send(slices.Concat([]byte{mysql.COM_QUERY}, attributes, text)); err != nil {
			return wire.OK{}, err
		}
		return f.readOK()
	}
	id, err := f.executeOnce(text, params)
	if err != nil {
		return wire.OK{}, err
	}
	ok, err := f.readOK()
	return ok, errors.Join(err, f.SendClose(id))
}

// executeOnce prepares a text and sends its execution.
func (f *queryFiller) executeOnce(text []byte, params []wire.Param) (id uint32, err error) {
	if err := f.Send(append([]byte{mysql.COM_STMT_PREPARE}, text...)); err != nil {
		return 0, err
	}
	ok, err := f.ReadPrepared()
	if err != nil {
		return 0, err
	}
	f.scratch = f.appendExecute(f.packetBuffer(), ok.ID, 0, params)
	return ok.ID, f.SendPacket(f.scratch)
}

// overran reports whether a statement failed because its query gave more rows than
// were counted.
func (f *queryFiller) overran(err error) bool {
	var refused *wire.ServerError
	return errors.As(err, &refused) && refused.Code() == mysql.ER_DATA_OUT_OF_RANGE &&
		bytes.Contains(refused.Packet, []byte(f.srv.queryNames+parser.QueryOverrun))
}

// isInexact tells the other reason for which a statement made here fails so.
func isInexact(err error) bool { return strings.Contains(err.Error(), parser.QueryInexact) }

// answerQuery answers the statement as a native AUTO_INCREMENT column does.
func (x *insertRunner) answerQuery(q *insertQuery, t catalog.TableName, ok wire.OK, err error) error {
	p := &q.fill
	if err == nil {
		p.Rows = x.records(ok)
	}
	if err != nil {
		x.skipTaken(p, t, err)
	} else {
		x.mayBeTaken(p, t, ok)
	}
	x.tellExplicit(p, t, x.ownOutcome(p, ok, err))
	if err != nil {
		x.State.Restore = true // LAST_INSERT_ID(id) may have been evaluated before it failed
		return x.queryError(q, err)
	}
	switch {
	case p.Open == 0 && p.Binding.AutoIncrement:
		if !p.Wrap {
			x.State.LastIDKnown = false
		}
	case p.Open == 0 && !p.Upsert:
		x.State.Restore = x.State.Restore || p.Wrap // an id of the query's own may be there
		if ok.AffectedRows == 0 {
			ok.InsertID = 0
		}
	default:
		x.tellInserted(p, t, &ok)
	}
	return x.replyOK(ok)
}

// records returns how many rows the query gave, by the OK packet's text "Records: n
// Duplicates: n Warnings: n"; in whatever language, it is the first number.
func (f *queryFiller) records(ok wire.OK) int {
	info := ok.Rest
	if f.Has(mysql.CLIENT_SESSION_TRACK) {
		_, _, size := wire.LengthEncoded(info)
		info = info[size:]
	}
	n := 0
	begin := bytes.IndexAny(info, "0123456789")
	for i := begin; begin >= 0 && i < len(info) && info[i] >= '0' && info[i] <= '9'; i++ {
		n = n*10 + int(info[i]-'0')
	}
	return n
}

// queryError returns the error that the client sees for one of a statement made of
// its own: the server's for the client's own text, where that is wrong, and else
// that the form is not supported.
func (f *queryFiller) queryError(q *insertQuery, err error) error {
	var refused *wire.ServerError
	if !errors.As(err, &refused) {
		return err
	}
	f.forgetIfStale(refused)
	if !slices.Contains(namingErrors, refused.Code()) {
		return err
	}
	if native := f.explainQuery(q); native != nil {
		return native
	}
	f.srv.catalog.Forget()
	return catalog.Unsupported("this INSERT ... SELECT, which fails once its query is wrapped (server error "+
		fmt.Sprint(refused.Code())+": "+refused.Text()+"),", q.fill.Binding.Table,
		"refer in ON DUPLICATE KEY UPDATE to the table's own columns and VALUES() only, and leave HIGH_PRIORITY and SQL_ modifiers out")
}

// namingErrors are errors in the reading of a statement, which may be due to what
// was put round its query.
var namingErrors = []uint16{
	mysql.ER_NON_UNIQ_ERROR, mysql.ER_BAD_FIELD_ERROR, mysql.ER_DUP_FIELDNAME, mysql.ER_PARSE_ERROR,
	mysql.ER_WRONG_VALUE_COUNT_ON_ROW, mysql.ER_WRONG_USAGE, mysql.ER_CANT_USE_OPTION_HERE, mysql.ER_NOT_SUPPORTED_YET,
	mysql.ER_VIEW_WRONG_LIST, errColumnList,
}

// errColumnList is MariaDB's ER_WITH_COL_WRONG_LIST: a common table expression has
// another number of columns than its list.
const errColumnList = 4002

// explainQuery has the server read the client's own statement, without running it.
// It is native that the statement gives no id to a column without a default.
func (f *queryFiller) explainQuery(q *insertQuery) error {
	err := f.explainPlan(q)
	var refused *wire.ServerError
	if errors.As(err, &refused) && refused.Code() == mysql.ER_NO_DEFAULT_FOR_FIELD {
		err = nil
	}
	q.explained = err == nil
	return err
}

func (f *queryFiller) explainPlan(q *insertQuery) error {
	text := append([]byte("EXPLAIN "), q.sql...)
	if !q.prepared {
		if err := f.Send(slices.Concat([]byte{mysql.COM_QUERY}, []byte(f.NoAttributes()), text)); err != nil {
			return err
		}
		return f.Drop(wire.ShapeResults)
	}
	id, err := f.executeOnce(text, q.params)
	if err != nil {
		return err
	}
	return errors.Join(f.Drop(wire.ShapeResults), f.SendClose(id))
}

// executeQuery executes a prepared INSERT ... SELECT. What is made of it is
// prepared for this execution only.
func (x *insertRunner) executeQuery(st *statement, payload []byte, size int) error {
	q := insertQuery{sql: st.query, prepared: true, own: st.params}
	err := x.planExecution(st, payload, &q)
	x.front.Skip(size)
	if err != nil {
		return errors.Join(err, x.dropLong(st))
	}
	return x.insertFromQuery(&q, catalog.TableName{Schema: st.schema, Table: st.table})
}

// planExecution reads what an execution needs into q and s.planner.Stmt.
func (f *queryFiller) planExecution(st *statement, payload []byte, q *insertQuery) (err error) {
	b := st.fill.Binding
	switch {
	case payload[0] == comStmtBulkExecute:
		return catalog.Unsupported("INSERT ... SELECT in COM_STMT_BULK_EXECUTE", b.Table, "execute it row by row (useBulkStmts=false)")
	case len(st.long) > 0:
		return catalog.Unsupported("INSERT ... SELECT with a value sent by COM_STMT_SEND_LONG_DATA", b.Table, "bind the value")
	}
	params, err := f.readExecute(st, payload)
	if err != nil {
		return err
	}
	for _, p := range params {
		p.Value = bytes.Clone(p.Value) // the packet is gone when it is sent
		q.params = append(q.params, p)
	}
	if err := f.planner.Stmt.ParseQuery(st.query, b.Mode(f.State.Mode)); err != nil {
		return plan.RefuseForm(err, b.Table)
	}
	p, err := f.planner.Query(0, b, true)
	if err == nil && p.Kind != plan.Query {
		err = mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	q.fill = p.Fill
	q.fill.FoundRows = f.Has(mysql.CLIENT_FOUND_ROWS)
	return err
}

// explainFilled returns the text that the server would get of the statement in x.planner.Stmt.
func (f *queryFiller) explainFilled(sql []byte, p *plan.Fill) []byte {
	n, wrap := 0, p.Wrap
	value := func(dst []byte, row int) ([]byte, bool) {
		if !f.planner.IsOpen(row) {
			return f.appendCopied(dst, sql, p, row)
		}
		n++
		dst = plan.AppendNamedID(dst, n, wrap)
		wrap = false
		return dst, true
	}
	return f.planner.Stmt.AppendFilled(nil, sql, p.Binding.Column, value, p.Options())
}
