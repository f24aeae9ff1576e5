package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// router is what a client's session has in front of sharded keyspaces: connections
// to as many shards as its statements need, and what makes them one session.
type router struct {
	s        *session          // the client's: also the connection of the shard that it logged into
	keyspace *catalog.Keyspace // the current one
	database string            // the current one on its server, when that is not its own
	conns    shardConns
	tx       transaction
	settings settings
	prepared preparedStmts

	// last is the connection that ran the latest statement alone; nil when several did, or none.
	last    *executor
	several []*executor // the connections that did
	counts  counts      // what that statement left; of last it knows itself
	warned  *warnings   // of it, where the connections do not have them any more; nil where they do
	idConn  *executor   // that has the session's LAST_INSERT_ID(); nil for s
	next    []string    // each SET TRANSACTION for the next one
	// assigned are the user variables that the statement under way may set; opaque is
	// a connection on which a program ran that may have set any.
	assigned []string
	opaque   *executor

	text  []byte // of the command under way
	bound []byte // the text of an execution under way

	indexes []int      // of shards, reused from statement to statement
	room    route.Room // of the plan of a text under way

	leaving    time.Time // since when the client is known to have left
	committing bool      // several shards commit one after the other
}

func newRouter(s *session, k *catalog.Keyspace, database string) *router {
	r := &router{s: s, keyspace: k}
	if k.Shards == nil && database != k.Database {
		r.database = database
	}
	r.conns.add(s.executor)
	return r
}

// command deals with the command at the front of the client's bytes.
func (r *router) command(code byte, length int) error {
	s := r.s
	switch code {
	case mysql.COM_QUIT:
		s.boundary = true
		return io.EOF
	case mysql.COM_QUERY:
		return r.takeQuery()
	case mysql.COM_INIT_DB:
		name, err := s.takeCommand()
		if err != nil {
			return err
		}
		return r.use(string(name))
	case mysql.COM_PING:
		return r.ping()
	case mysql.COM_SET_OPTION:
		return s.setOption()
	case mysql.COM_PROCESS_KILL:
		return s.processKill()
	case mysql.COM_SHUTDOWN:
		return s.refuseShutdown()
	case mysql.COM_STMT_PREPARE, mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_SEND_LONG_DATA,
		mysql.COM_STMT_CLOSE, mysql.COM_STMT_RESET, mysql.COM_STMT_FETCH:
		s.answer.Failed = false
		return r.settle(r.prepared.command(r, code))
	case comResetConnection:
		return r.reset()
	case mysql.COM_CHANGE_USER:
		return r.changeUser()
	case mysql.COM_FIELD_LIST, mysql.COM_STATISTICS, mysql.COM_DEBUG, mysql.COM_PROCESS_INFO:
		return r.passAny(code)
	}
	return r.refuseCommand(code)
}

// refuseCommand refuses what means one server. The client's bytes are taken, so
// that its next command is found.
func (r *router) refuseCommand(code byte) error {
	if _, err := r.s.takeCommand(); err != nil {
		return err
	}
	return mysql.NewError(mysql.ER_UNKNOWN_COM_ERROR, fmt.Sprintf(
		"seqgate does not relay the command %#x to sharded keyspaces; connect to one shard for it, as in the database name %s",
		code, r.oneShard()))
}

// oneShard gives, as an example, the name under which a client reaches one shard alone.
func (r *router) oneShard() string {
	shard := r.shards()[0]
	for _, name := range slices.Sorted(maps.Keys(r.s.srv.cfg.Keyspaces)) {
		if k := r.s.srv.cfg.Keyspaces[name]; shard.Shard == "" && k.Shards != nil {
			shard = k.Shards[0]
		}
	}
	return "'" + shard.String() + "'"
}

// ping is answered here: which servers are there is of no one command's concern.
func (r *router) ping() error {
	if _, err := r.s.takeCommand(); err != nil {
		return err
	}
	return r.s.replyOK(wire.OK{Status: r.status()})
}

// passAny passes a command to one shard of the current keyspace.
func (r *router) passAny(code byte) error {
	body, err := r.s.takeCommand()
	if err != nil {
		return err
	}
	conn, err := r.anyShard(r.shards()[0], r.conn)
	if err != nil {
		return err
	}
	as := wire.ShapeSingle
	switch code {
	case mysql.COM_FIELD_LIST:
		as = wire.ShapeFieldList
	case mysql.COM_PROCESS_INFO:
		as = wire.ShapeResults
	}
	return r.on(conn, func() error {
		if err := conn.send(append([]byte{code}, body...)); err != nil {
			return err
		}
		return conn.relay(as)
	})
}

// shards gives those of the current keyspace.
func (r *router) shards() []*catalog.Keyspace { return r.keyspace.EachShard() }

// on runs something that answers the client from a connection.
func (r *router) on(conn *executor, run func() error) error {
	conn.boundary, conn.sent = false, false
	conn.answer.Failed = false
	r.last = conn
	lastID := conn.state.lastID
	conn.answer.Code = 0
	err := run()
	conn.boundary = !isConnectionFailure(err)
	r.ownsLastID(conn, lastID)
	if len(r.assigned) > 0 {
		r.settings.noteVariables(conn, r.assigned) // also when it failed: up to there they may be set
		r.assigned = nil
	}
	r.s.answer.Failed = conn.answer.Failed
	if conn.answer.Failed {
		r.s.noteError(conn.answer.Code)
	}
	return err
}

// takeQuery takes a COM_QUERY, and runs its statements.
func (r *router) takeQuery() error {
	s := r.s
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	begin := s.textBegin(payload)
	if begin == 0 {
		s.front.Skip(size)
		return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet.")
	}
	text := payload
	if size > 0 { // else it is a copy already
		r.text = append(r.text[:0], payload...)
		text = r.text
		s.front.Skip(size)
	}
	s.noteText(text[begin:])
	if cap(r.text) > maxScratch {
		defer func() { r.text, r.room = nil, route.Room{} }()
	}
	if s.has(mysql.CLIENT_MULTI_STATEMENTS) && !parser.Single(text[begin:]) {
		return r.queryParts(text[:begin], text[begin:])
	}
	return r.query(text[:begin], text[begin:])
}

// queryParts runs a text of several statements one by one, up to the first that
// fails, and tells their results as one answer.
func (r *router) queryParts(attributes, text []byte) error {
	s := r.s
	attributes, text = bytes.Clone(attributes), bytes.Clone(parser.TrimEnd(text))
	s.noteKind(meter.Several)
	s.out.parts = true
	defer func() { s.out.part, s.out.rest = nil, nil }()
	for len(text) > 0 {
		m, err := r.mode()
		if err != nil {
			return err
		}
		spans, err := parser.Split(nil, text, m)
		var rest []byte // reads in another way, once what is before it has run
		if len(spans) > 0 && err != nil {
			last := spans[len(spans)-1]
			rest, spans = text[last.Start:last.End], spans[:len(spans)-1]
		}
		if err != nil && !errors.Is(err, parser.ErrModeChange) {
			rest, err = nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
				"seqgate does not take apart a compound statement among several in front of sharded keyspaces; send it alone")
		} else {
			err = nil
		}
		for i, span := range spans {
			s.out.more = i < len(spans)-1 || len(rest) > 0 || err != nil
			if failed, err := r.queryPart(attributes, text, span); failed || err != nil {
				s.out.more = false
				return err
			}
		}
		if s.out.more = false; err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// queryPart runs one statement of several. It reports that the server refused it.
func (r *router) queryPart(attributes, text []byte, span parser.Span) (failed bool, err error) {
	s := r.s
	s.out.part, s.out.rest = text[span.Start:span.End], text[span.End:]
	s.answer.Failed = false
	err = r.query(attributes, s.out.part)
	return s.answer.Failed, err
}

// mode gives how SQL text reads in the session.
func (r *router) mode() (parser.Mode, error) {
	conn := r.settings.ahead // what was set last is not known elsewhere
	if conn == nil {
		var err error
		if conn, err = r.anyConn(); err != nil {
			return parser.Mode{}, err
		}
	}
	if err := conn.know(); err != nil {
		return parser.Mode{}, err
	}
	return conn.state.mode, nil
}

// query runs one statement. attributes is what stands before its text in a COM_QUERY.
func (r *router) query(attributes, sql []byte) error {
	r.s.answer.Failed = false
	return r.settle(r.statement(attributes, sql))
}

// statement is query, but for what it may have done to the client's transaction.
func (r *router) statement(attributes, sql []byte) error {
	if err := r.s.refuseLostID(sql); err != nil {
		return err
	}
	m, err := r.mode()
	if err != nil {
		return err
	}
	sql = r.resolveVersions(sql, m)
	kind := parser.Sniff(sql)
	r.s.noteKind(kindOf(kind))
	if err := r.showTimeouts(kind, sql); err != nil {
		return err
	}
	if t, ok := parser.ParseTransaction(sql, m); t.Verb != parser.NoTransaction {
		return r.transact(t, ok, attributes, sql)
	}
	r.assigned = nil
	p, err := r.plan(sql, m)
	switch {
	case err == nil:
		if err = r.run(&p, attributes); p.inserts {
			err = r.syntaxOr(err, p.sql)
		}
	case p.read:
		err = r.syntaxOr(err, p.sql)
	}
	r.forgetNext()
	return err
}

// resolveVersions gives a text as the servers read its version comments, which are
// taken to be of one version. One that cannot be read so stays as it is.
func (r *router) resolveVersions(sql []byte, m parser.Mode) []byte {
	if !parser.HasVersion(sql) {
		return sql
	}
	if resolved, ok := parser.ResolveVersions(sql, m, parser.ServerVersion(r.s.backend.Version)); ok {
		return resolved
	}
	return sql
}

// inTransaction reports whether one is open, on any connection.
func (r *router) inTransaction() bool {
	if r.tx.open && !r.tx.implicit {
		return true
	}
	for _, conn := range r.conns.all {
		if conn.hasTransaction() {
			return true
		}
	}
	return false
}

// status gives the flags of an answer that no server made.
func (r *router) status() uint16 {
	status := r.s.status()
	if r.inTransaction() {
		return status | mysql.SERVER_STATUS_IN_TRANS
	}
	return status &^ (mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_IN_TRANS_READONLY)
}

// done answers with an OK packet of seqgate's own.
func (r *router) done() error {
	r.ran(0, 0)
	return r.s.replyOK(wire.OK{Status: r.status()})
}
