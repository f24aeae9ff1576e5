package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// SHOW SEQGATE ... is answered from memory, from any session, also one in a failed
// transaction: nothing of it reaches the server but the question which of the
// client's sessions do what.

// shown is a result: the pattern of LIKE is held to the first column.
type shown struct {
	columns []resultColumn
	rows    [][]string
}

func (d *ownStatement) showSeqgate() (err error) {
	var result shown
	switch d.Topic {
	case "status":
		result = d.srv.showStatus()
	case "sequences":
		result = showSequences(d.srv.cfg.Sequences.Snapshot())
	case "sessions":
		result, err = d.showSessions()
	case "vschema":
		result = showVSchema(d.srv.cfg.VSchema)
	}
	if err != nil {
		return err
	}
	result.rows = slices.DeleteFunc(result.rows, func(row []string) bool { return !matches(d.Like, row[0]) })
	return d.replyRows(result.columns, result.rows)
}

// showStatus gives what this process did since it began, as SHOW STATUS of a server.
func (s *Server) showStatus() shown {
	s.mu.Lock()
	sessions, loggingIn := 0, 0
	for _, session := range s.sessions {
		if session == nil {
			loggingIn++
		} else {
			sessions++
		}
	}
	s.mu.Unlock()
	var refills, waits, failures, away, waiting int64
	all := s.cfg.Sequences.Snapshot()
	for _, st := range all {
		refills, waits, failures, waiting = refills+st.Refills, waits+st.Waits, failures+st.Failures, waiting+int64(st.Waiting)
		if !st.AwaySince.IsZero() {
			away++
		}
	}
	variables := []struct {
		name  string
		value any
	}{
		{"Draining", onOff(!s.Ready())}, {"Keyspaces", len(s.cfg.Keyspaces)},
		{"Logins_under_way", loggingIn}, {"Max_sessions", s.cfg.MaxConnections}, {"Sequence_failures", failures},
		{"Sequence_refills", refills}, {"Sequence_waits", waits}, {"Sequences", len(all)}, {"Sequences_away", away},
		{"Sequences_waiting", waiting}, {"Sessions", sessions}, {"Uptime", int64(time.Since(s.started).Seconds())},
		{"Version", s.cfg.Version}, {"Vschema", onOff(s.cfg.VSchema != nil)},
	}
	result := shown{columns: []resultColumn{textColumn("Variable_name", 64), textColumn("Value", 1024)}}
	for _, v := range variables {
		result.rows = append(result.rows, []string{v.name, fmt.Sprint(v.value)})
	}
	return result
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// showSequences gives the state of each sequence that this process uses.
func showSequences(all []sequence.Status) shown {
	result := shown{columns: []resultColumn{
		textColumn("Sequence", 129), textColumn("Keyspace", 64), textColumn("Strategy", 32), textColumn("Ordered", 3),
		integerColumn("Next"), integerColumn("Remaining"), integerColumn("Prefetched"), integerColumn("Cache"), integerColumn("Step"),
		integerColumn("Ids_per_second"), integerColumn("Runway_seconds"), integerColumn("Waiting"), integerColumn("Waits"),
		integerColumn("Refills"), integerColumn("Dropped"), integerColumn("Raised"), integerColumn("Failures"),
		textColumn("Server", 255), textColumn("Away_since", 32), textColumn("Last_error", 1024),
	}}
	for _, s := range all {
		lastError, away := "", ""
		if s.LastError != nil {
			lastError = s.LastError.Error()
		}
		if !s.AwaySince.IsZero() {
			away = s.AwaySince.UTC().Format(time.RFC3339)
		}
		row := []string{s.Name.String(), s.Name.Keyspace, s.Strategy, onOff(s.Ordered)}
		for _, n := range []int64{s.Current.First, s.Current.N + s.Next.N, s.Next.N, s.Cache, s.Step, int64(s.Rate), int64(s.Runway.Seconds()),
			int64(s.Waiting), s.Waits, s.Refills, s.Dropped, s.Raised, s.Failures} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		result.rows = append(result.rows, append(row, s.Server, away, lastError))
	}
	return result
}

// showVSchema gives the tables of the vschema; none without one.
func showVSchema(v *vschema.VSchema) shown {
	result := shown{columns: []resultColumn{textColumn("Table", 129), textColumn("Type", 16),
		textColumn("Column", 64), textColumn("Sequence", 129), textColumn("Key", 64)}}
	if v == nil {
		return result
	}
	for _, k := range v.Keyspaces() {
		for _, t := range k.Tables() {
			row := []string{k.Name + "." + t.Name, cmp.Or(string(t.Type), "table"), "", "", ""}
			if a := t.AutoIncrement; a != nil {
				row = append(row[:2], a.Column, a.SequenceKeyspace+"."+a.SequenceTable, a.Key)
			}
			result.rows = append(result.rows, row)
		}
	}
	return result
}

// sessionRow is one of the client's sessions.
type sessionRow struct {
	id       uint64
	thread   uint32
	host     string
	keyspace *Keyspace
}

// showSessions gives the sessions of the client's own user, as SHOW PROCESSLIST does
// for one without the privilege PROCESS: of other users seqgate does not know who
// may see them. What they do is the server's to tell.
func (d *ownStatement) showSessions() (shown, error) {
	result := shown{columns: []resultColumn{integerColumn("Id"), textColumn("User", 32), textColumn("Host", 261), textColumn("Keyspace", 64), textColumn("Database", 64),
		textColumn("Command", 16), integerColumn("Time"), textColumn("State", 64)}}
	sessions := d.srv.sessionsOf(d.user)
	doing, err := d.doing(sessions)
	if err != nil {
		return result, err
	}
	for _, s := range sessions {
		now, ok := doing[s.thread]
		if !ok {
			now = activity{command: "Sleep", time: "0"}
		}
		result.rows = append(result.rows, []string{strconv.FormatUint(s.id, 10), d.user, s.host, s.keyspace.Name,
			now.database, now.command, now.time, now.state})
	}
	return result, nil
}

// sessionsOf gives a user's sessions by their ids.
func (s *Server) sessionsOf(user string) (all []sessionRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session != nil && session.user == user {
			all = append(all, sessionRow{uint64(session.id), session.threadID.Load(), hostOf(session.front), session.keyspace})
		}
	}
	slices.SortFunc(all, func(a, b sessionRow) int { return cmp.Compare(a.id, b.id) })
	return all
}

func hostOf(c net.Conn) string {
	if addr := c.RemoteAddr(); addr.Network() != "unix" {
		return addr.String()
	}
	return "localhost"
}

// activity is what the server says of a thread.
type activity struct{ database, command, time, state string }

// doing asks the server what its threads of the client's sessions do. Threads on
// other servers are left out.
func (d *ownStatement) doing(sessions []sessionRow) (map[uint32]activity, error) {
	var ids []string
	for _, s := range sessions {
		if s.thread != 0 && s.keyspace.Backend.Addr == d.keyspace.Backend.Addr {
			ids = append(ids, strconv.FormatUint(uint64(s.thread), 10))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(d.ctx, catalogTimeout)
	defer cancel()
	rows, err := d.keyspace.DB.QueryContext(ctx, "SELECT ID, COALESCE(DB, ''), COMMAND, TIME, COALESCE(STATE, '')"+
		" FROM information_schema.PROCESSLIST WHERE ID IN ("+strings.Join(ids, ", ")+")")
	if err != nil {
		return nil, fmt.Errorf("ask the server what its sessions do: %w", err)
	}
	defer rows.Close()
	doing := make(map[uint32]activity)
	for rows.Next() {
		var thread uint32
		var a activity
		if err := rows.Scan(&thread, &a.database, &a.command, &a.time, &a.state); err != nil {
			return nil, errors.Join(err, rows.Err())
		}
		doing[thread] = a
	}
	return doing, rows.Err()
}
