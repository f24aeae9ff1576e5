package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
)

// router is what a client's session has in front of sharded keyspaces: it handles the client's commands as session.command
// does in front of one server. What it is made of, each part knowing those before it: routedState, shardedConn,
// sessionRouter, textRouter, statementRouter.
type router struct {
	statementRouter

	text []byte // of the command under way
}

func newRouter(s *session, k *catalog.Keyspace, database string) *router {
	r := new(router)
	r.s, r.Keyspaces, r.Keyspace = s, s.srv.cfg.Keyspaces, k
	if k.Shards == nil && database != k.Database {
		r.database = database
	}
	r.conns.add(s.executor)
	return r
}

// command handles the command at the front of the client's bytes.
func (r *router) command(code byte, length int) error {
	s := r.s
	switch code {
	case mysql.COM_QUIT:
		s.Boundary = true
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
		s.Answer.Failed = false
		return r.endOnAll(r.preparedCommand(code))
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
		code, r.OneShard()))
}

// takeQuery takes a COM_QUERY, and runs its statements.
func (r *router) takeQuery() error {
	s := r.s
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	begin := s.TextBegin(payload)
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
		defer func() {
			r.text = nil
			r.routes.DropRoom()
		}()
	}
	if s.Has(mysql.CLIENT_MULTI_STATEMENTS) && !parser.Single(text[begin:]) {
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
	s.Answer.Failed = false
	err = r.query(attributes, s.out.part)
	return s.Answer.Failed, err
}

// query runs one statement. attributes is what stands before its text in a COM_QUERY.
func (r *router) query(attributes, sql []byte) error {
	r.s.Answer.Failed = false
	return r.endOnAll(r.statement(attributes, sql))
}
