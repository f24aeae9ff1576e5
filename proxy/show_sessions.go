package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/wire"
)

// sessionRow is a client's session.
type sessionRow struct {
	id       uint64
	thread   uint32
	user     string
	account  *catalog.Account
	host     string
	keyspace *catalog.Keyspace
	pinned   bool
}

// showSessions returns the sessions of the client's own user, as SHOW PROCESSLIST does
// for one without the privilege PROCESS: of other users seqgate does not know who
// may see them. What they do is the server's to tell.
func (d *commandStatement) showSessions() (shown, error) {
	result := shown{columns: []wire.Column{wire.IntegerColumn("Id"), wire.TextColumn("User", 32), wire.TextColumn("Host", 261), wire.TextColumn("Keyspace", 64), wire.TextColumn("Database", 64),
		wire.TextColumn("Command", 16), wire.IntegerColumn("Time"), wire.TextColumn("State", 64)}}
	sessions := d.srv.sessionRows(func(s *session) bool { return s.user == d.user })
	doing, err := d.srv.doing(d.ctx, sessionRow{keyspace: d.keyspace, account: d.account.Load()}, sessions)
	if err != nil {
		return result, err
	}
	for _, s := range sessions {
		now := doing.of(s.thread)
		result.rows = append(result.rows, []string{strconv.FormatUint(s.id, 10), s.user, s.host, s.keyspace.Name,
			now.Database, now.Command, now.Time, now.State})
	}
	return result, nil
}

// SessionStatus is a client's session, as SHOW SEQGATE SESSIONS tells of it: nothing of what its statements say.
type SessionStatus struct {
	ID                             uint64
	User, Host, Keyspace           string
	Database, Command, Time, State string // as the server tells; Time is in seconds
	Pinned                         bool   // its connection to the server will be no other session's after it
}

// sessionRows returns those sessions by their ids.
func (s *sessionList) sessionRows(keep func(*session) bool) (all []sessionRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session != nil && keep(session) {
			all = append(all, sessionRow{uint64(session.id), session.ThreadID.Load(), session.user, session.account.Load(), hostOf(session.front), session.keyspace,
				s.isPinned(session)})
		}
	}
	slices.SortFunc(all, func(a, b sessionRow) int { return cmp.Compare(a.id, b.id) })
	return all
}

// isPinned reports whether the session's connection is no other's after it. Without a list of users each connection to a
// server is its client's alone.
func (s *sessionList) isPinned(session *session) bool {
	return s.pools == nil || session.Unpoolable.Load()
}

func hostOf(c net.Conn) string {
	if addr := c.RemoteAddr(); addr.Network() != "unix" {
		return addr.String()
	}
	return "localhost"
}

// seenBy is a server, and the account that is asked there for what its threads do.
type seenBy struct {
	addr    string
	account catalog.Account
}

func (r sessionRow) seenBy() seenBy {
	by := seenBy{addr: r.keyspace.Backend.Addr}
	if r.account != nil && *r.account != r.keyspace.Own() {
		by.account = *r.account
	}
	return by
}

// doing asks the server of a session what its threads of the sessions do. Threads on
// other servers and of other accounts are left out.
func (s *sessionList) doing(ctx context.Context, of sessionRow, sessions []sessionRow) (activities, error) {
	var ids []uint32
	for _, row := range sessions {
		if row.thread != 0 && row.seenBy() == of.seenBy() {
			ids = append(ids, row.thread)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	db, err := s.asking(of.keyspace, of.account)
	if err != nil {
		return nil, err
	}
	found, err := threads.List(ctx, db, ids...)
	if err != nil {
		return nil, fmt.Errorf("ask the server what its sessions do: %w", err)
	}
	return found, nil
}

// activities is what a server's threads do, by their ids.
type activities map[uint32]threads.Thread

// of returns what a thread does; one that the server does not know does nothing.
func (a activities) of(thread uint32) threads.Thread {
	if now, ok := a[thread]; ok {
		return now
	}
	return threads.Thread{Command: "Sleep", Time: "0"}
}
