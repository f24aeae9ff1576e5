package proxy

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// loadPlan is a LOAD DATA LOCAL INFILE into a sequenced table.
type loadPlan struct {
	stmt *parser.LoadStmt
	file *parser.LoadSplitter
	fill plan.Fill // binding, and the ids that the file brought along
	rows uint64
	ids  []idBlock // the first of those that the rows got, in order
	own  ownRanges // that rows brought along
}

// idBlock is count ids from first on.
type idBlock struct{ first, count int64 }

// maxBlocks is how many blocks of ids are remembered, to look for the first row
// that went in. Blocks that follow each other are one.
const maxBlocks = 4096

// planLoad plans a LOAD DATA or LOAD XML.
func (x *insertRunner) planLoad(p textPlan, sql []byte) (textPlan, error) {
	var l *plan.Load
	err := x.planned(func() (err error) {
		l, err = x.planner.Load(sql)
		return err
	})
	if l == nil || err != nil {
		return p, err
	}
	text := l.Stmt.AppendFilled(nil, sql)
	p.command("LOAD DATA")
	p.effect = plan.MayLook
	p.run = func(attributes []byte) error {
		x.scratch = append(append(x.packetBuffer(), attributes...), text...)
		if err := x.SendPacket(x.scratch); err != nil {
			return err
		}
		return x.load(&loadPlan{stmt: l.Stmt, file: l.File, fill: plan.Fill{Binding: l.Binding}})
	}
	return p, nil
}

// load has the server load the client's file, for which the statement was sent,
// and tells the client what a native AUTO_INCREMENT column would have.
func (x *insertRunner) load(l *loadPlan) error {
	ok, err := x.loadAnswer(l)
	x.tellLoaded(l, ok, err)
	if err != nil {
		var refused *wire.ServerError
		if errors.As(err, &refused) {
			x.forgetIfStale(refused)
		}
		if l.stmt.UsesLastID {
			x.State.LastIDKnown = false
		}
		return err
	}
	switch first := x.firstLoaded(l, ok.AffectedRows); {
	case first != 0:
		x.SetLastID(first, 0)
	case l.stmt.UsesLastID:
		x.State.LastIDKnown = false
	}
	return x.replyOK(ok)
}

// loadAnswer reads the server's answer, up to its end.
func (x *insertRunner) loadAnswer(l *loadPlan) (wire.OK, error) {
	x.StartAnswer(wire.ShapeResults)
	payload, size, err := x.Follow()
	switch {
	case err != nil:
		return wire.OK{}, &backend.LostError{Err: err}
	case x.Answer.Failed:
		err = &wire.ServerError{Packet: slices.Clone(payload)}
	case !x.Answer.InFile:
		err = &backend.LostError{Err: backend.ErrMalformedAnswer}
	default:
		err = x.reply(payload)
	}
	x.Wire.Skip(size)
	if err == nil {
		x.Answer.InFile = false
		err = x.loadFile(l)
	}
	if err != nil {
		return wire.OK{}, err
	}
	return x.answerOK()
}

// loadFile passes the client's file to the server, with ids.
func (x *insertRunner) loadFile(l *loadPlan) error {
	file := &localFile{wire: x.front, want: x.out.sequence}
	filled := &filledFile{executor: x, load: l, number: x.Answer.Sequence + 1}
	err, silent := x.whileListening(func() error { return filled.pass(file) })
	x.out.sequence = file.want
	var front *frontError
	var lost *backend.LostError
	var order *wire.OrderError
	switch {
	case err == nil && silent == nil:
		return nil
	case err == nil || errors.As(err, &front) || errors.As(err, &lost) || errors.As(err, &order) || errors.Is(err, wire.ErrInterrupted):
		return x.loadCut(err, silent)
	}
	return x.abandonLoad(file, filled, err)
}

// loadCut goes on after a file that did not reach its end, or the server's answer
// to it, because of one of the connections.
func (x *insertRunner) loadCut(err, silent error) error {
	if silent == nil && !errors.As(err, new(*wire.OrderError)) {
		_, err = x.answerOK()
		var refused *wire.ServerError
		if errors.As(err, &refused) {
			err = x.reply(refused.Packet)
		}
		return errors.Join(&frontError{errors.New("the server answered before the end of the client's file")}, err)
	}
	return x.fileEnded(err, silent)
}

// abandonLoad has the server's statement fail because of err, and reads the rest
// of the client's file. A packet that is out of order is an error for the server
// between any two rows, upon which it undoes the statement and awaits the file's
// end. A ping tells that it did so, and takes the next command for one.
func (x *insertRunner) abandonLoad(file *localFile, filled *filledFile, err error) error {
	wrong, end := filled.number+8, filled.number
	if writeErr := x.WriteFile([]byte{0, 0, 0, wrong, 0, 0, 0, end}); writeErr != nil {
		return errors.Join(errCommandCut, writeErr)
	}
	var refused *wire.ServerError
	_, answer := x.answerOK()
	if !errors.As(answer, &refused) || refused.Code() != mysql.ER_NET_PACKETS_OUT_OF_ORDER {
		return errors.Join(errCommandCut, &backend.LostError{Err: errors.Join(err, answer)})
	}
	if pingErr := x.Ping(); pingErr != nil {
		return errors.Join(errCommandCut, &backend.LostError{Err: errors.Join(err, pingErr)})
	}
	for !file.ended {
		chunk, readErr := file.next()
		if readErr != nil {
			return readErr
		}
		x.front.Skip(len(chunk))
	}
	x.out.sequence = file.want
	return err
}

// firstLoaded returns the first generated id that went into the table, 0 for none.
// Only where rows were left out does the table have to be asked.
func (f *insertPlanner) firstLoaded(l *loadPlan, affected uint64) uint64 {
	switch {
	case len(l.ids) == 0 || affected == 0:
		return 0
	case affected >= l.rows:
		return uint64(l.ids[0].first)
	}
	for _, ids := range l.ids {
		p := plan.Fill{Binding: l.fill.Binding, First: ids.first, Open: ids.count}
		if first := f.probe(&p, f.loadTarget(l), int64(affected)); first != 0 {
			return first
		}
	}
	return 0
}

// loadTarget is the table that a file is loaded into.
func (f *insertPlanner) loadTarget(l *loadPlan) catalog.TableName {
	if l.stmt.Schema != "" {
		return catalog.TableName{Schema: l.stmt.Schema, Table: l.stmt.Table}
	}
	return catalog.TableName{Schema: f.State.Database, Table: l.stmt.Table}
}

// tellLoaded tells the sequence of the ids that the file's rows brought along.
func (f *insertPlanner) tellLoaded(l *loadPlan, ok wire.OK, err error) {
	l.fill.Rows = int(l.rows)
	l.fill.Ignore = true // rows are left out: the file is the client's (MySQL manual, "LOAD DATA")
	f.tellExplicit(&l.fill, f.loadTarget(l), f.ownOutcome(&l.fill, ok, err))
}
