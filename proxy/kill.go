package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/wire"
)

// firstSessionID is where the connection ids begin that listed users get in the
// greeting, which end at twice as much: Java's drivers read them as signed. The
// backend's own are not known by then; a server counts from 1, so
// the two do not meet, and a KILL tells by its number which is meant. Without a
// list of users the ids are the backend's own, and KILL is the server's affair.
const firstSessionID = 1 << 30

// planKill ends the session or statement that a KILL is for, if that is one of
// this seqgate's. Others pass: the server knows them, or does not.
func (x *commandRunner) planKill(p textPlan, sql []byte) (textPlan, error) {
	id, query, ok := parser.KillTarget(sql)
	if !ok && x.owner.routed() {
		return p, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support this KILL in front of sharded keyspaces; write the connection's number")
	}
	if !ok {
		return p, nil
	}
	p.command("KILL")
	if x.owner.isOwnID(id) {
		p.run = func([]byte) error { return x.killItself(query) }
		return p, nil
	}
	text, effect := slices.Clone(sql), p.effect
	p.effect = 0
	p.run = func(attributes []byte) error {
		done, err := x.kill(id, query)
		switch {
		case err != nil:
			return err
		case done:
			return x.replyOK(wire.OK{Status: x.Status()})
		}
		if err := x.before(effect); err != nil {
			return err
		}
		err = x.passOn(attributes, text)
		x.after(effect)
		return err
	}
	return p, nil
}

// passOn sends a text in the place of the client's, whose answer the client gets.
func (x *commandRunner) passOn(attributes, text []byte) error {
	x.out.composed = true
	if err := x.sendPart(attributes, text); err != nil {
		return err
	}
	return x.relayResult()
}

// processKill is COM_PROCESS_KILL, KILL's older form.
func (x *commandRunner) processKill() error {
	payload, size, err := x.shortPacket()
	if err != nil {
		return err
	}
	if len(payload) == 5 {
		id := uint64(binary.LittleEndian.Uint32(payload[1:]))
		if x.owner.isOwnID(id) {
			x.front.Skip(size)
			return x.killItself(false)
		}
		done, err := x.kill(id, false)
		if done || err != nil {
			x.front.Skip(size)
		}
		if err != nil {
			return err
		}
		if done {
			return x.replyOK(wire.OK{Status: x.Status()})
		}
	}
	err = x.WriteBack(x.front.Unread()[:size])
	x.front.Skip(size)
	if err != nil {
		return err
	}
	return x.relay(wire.ShapeSingle)
}

// kill ends the session, or its statement, that is known by an id: the one of its
// greeting, or its thread's at the server. It reports whether there is one. Listed
// users may have one account at the server, so it is here that one may not
// kill another's.
func (x *commandRunner) kill(id uint64, query bool) (done bool, err error) {
	if x.pool() == nil {
		return false, nil
	}
	t := x.srv.sessionOf(id, x.keyspace.Backend.Addr)
	switch {
	case t.session == nil && id < firstSessionID:
		return false, nil // the server knows whose it is
	case t.session == nil:
		return false, mysql.NewDefaultError(mysql.ER_NO_SUCH_THREAD, id)
	case t.user != x.user:
		return false, mysql.NewDefaultError(mysql.ER_KILL_DENIED_ERROR, id)
	}
	ctx, cancel := context.WithTimeout(x.ctx, killTimeout)
	defer cancel()
	err = x.srv.end(ctx, t, query)
	if errors.Is(err, errSessionEnded) {
		err = mysql.NewDefaultError(mysql.ER_NO_SUCH_THREAD, id)
	}
	return true, err
}

// end ends a session, or with query the statement that it runs; the error is errSessionEnded when it is certain that the
// session has ended.
func (s *sessionList) end(ctx context.Context, t killTarget, query bool) error {
	threadID := t.session.ThreadID.Load()
	err := s.endNow(ctx, t, query)
	switch {
	case !query || !errors.Is(err, threads.ErrUnsure):
	case t.session.killed.Load(), t.session.IsOver():
		return errSessionEnded
	case t.router == nil && t.session.HasLost(threadID):
		return nil
	}
	return err
}

func (s *sessionList) endNow(ctx context.Context, t killTarget, query bool) error {
	if !query {
		t.session.killed.Store(true)
	}
	if t.session.interruptWait() && query {
		return nil // nothing of it is at a server
	}
	threadID := t.session.ThreadID.Load()
	if threadID == 0 && t.router == nil { // it has no connection: nothing runs
		wire.Interrupt(t.client)
		return nil
	}
	if t.router != nil {
		return t.router.killConns(ctx, query)
	}
	db, err := s.asking(t.keyspace, t.account)
	if err == nil {
		err = threads.Kill(ctx, db, t.session.Thread(), query)
	}
	if errors.Is(err, threads.ErrOtherServer) || errors.Is(err, threads.ErrUnsure) && !query {
		t.session.CutThread(threadID)
		err = nil
	}
	return err
}

// killItself answers a KILL of the session's own id as the servers do, with the error
// of the statement that it interrupts, which is the KILL.
func (x *commandRunner) killItself(query bool) error {
	err := mysql.NewDefaultError(mysql.ER_QUERY_INTERRUPTED)
	if query {
		return err
	}
	if x.MariaDB {
		const connectionKilled = 1927
		err = &mysql.MyError{Code: connectionKilled, State: err.State, Message: "Connection was killed"}
	}
	x.killed.Store(true)
	return errors.Join(errKilledItself, x.reply(wire.AppendError(nil, err)))
}

// errKilledItself ends a session whose client was told.
var errKilledItself = &frontError{errors.New("the client ended its own session by KILL")}

// errSessionEnded: a session that was to be killed has ended by itself, or by another KILL.
var errSessionEnded = errors.New("the session has ended")

// killTimeout bounds a KILL of seqgate's own.
const killTimeout = catalog.Timeout

// killTarget is a session that somebody wants to end.
type killTarget struct {
	client   net.Conn
	session  *session
	user     string
	account  *catalog.Account
	keyspace *catalog.Keyspace
	router   *router // nil of a session that is not routed
}

// sessionOf finds a session by its id, or by its thread's on the given server.
func (s *sessionList) sessionOf(id uint64, addr string) (t killTarget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, session := range s.sessions {
		switch {
		case session == nil:
		case uint64(session.id) == id,
			uint64(session.ThreadID.Load()) == id && session.keyspace.Backend.Addr == addr,
			session.router != nil && session.router.hasThread(id, addr):
			return killTarget{c, session, session.user, session.account.Load(), session.keyspace, session.router}
		}
	}
	return t
}
