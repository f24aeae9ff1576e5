package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/wire"
)

// tracing is the span of a client's statement under way; its connections have it in common.
type tracing struct {
	tracer Tracer
	ctx    context.Context // with the span; nil between statements
	end    endSpan         // nil: nobody will see it
	ids    int64           // that were filled in

	operation, keyspace, text string // of the statement when it began; text is without values
}

func newTracing(tracer Tracer) *tracing {
	if tracer == nil {
		return nil
	}
	return &tracing{tracer: tracer}
}

// beginStatement begins the span of a command that is a statement, whose first packet has this length. What the client
// says of its own trace is looked for in what a buffer holds.
func (s *observedSession) beginStatement(code byte, length int) error {
	switch code {
	case mysql.COM_QUERY, mysql.COM_STMT_PREPARE, mysql.COM_STMT_EXECUTE, comStmtBulkExecute:
	default:
		return nil
	}
	n := min(length, wire.SmallBuffer-wire.HeaderSize)
	if err := s.front.Need(wire.HeaderSize + n); err != nil {
		return &frontError{err}
	}
	sql, kind := s.statementOf(code, s.front.Unread()[wire.HeaderSize:][:n])
	t, ctx := s.trace, s.ctx
	if parent, state := parser.TraceContext(sql); parent != "" {
		ctx = t.tracer.Continue(ctx, parent, state)
	}
	t.ids = 0
	for _, conn := range s.allConns() {
		conn.Answer.Rows = 0
	}
	t.operation, t.keyspace = operation(kind), s.currentKeyspace()
	t.ctx, t.end = t.tracer.Start(ctx, "server", spanName(t.operation, t.keyspace))
	if t.text = ""; t.end != nil && len(sql) > 0 {
		t.text = s.digestOf(sql[:min(len(sql), maxSlowText)])
	}
	return nil
}

// statementOf returns the text of a command, as far as it has one and payload goes, and the statement's kind.
func (s *observedSession) statementOf(code byte, payload []byte) (sql []byte, kind meter.Kind) {
	switch code {
	case mysql.COM_QUERY:
		if begin := s.TextBegin(payload); begin > 0 {
			sql = payload[begin:]
		}
		return sql, kindOf(parser.Sniff(sql))
	case mysql.COM_STMT_PREPARE:
		return payload[1:], meter.Prepare
	}
	return nil, s.preparedKind(payload)
}

// preparedKind returns the kind of the statement that a command executes.
func (s *observedSession) preparedKind(payload []byte) meter.Kind {
	const head = 5 // the command and the id
	if len(payload) < head {
		return meter.Other
	}
	id := binary.LittleEndian.Uint32(payload[1:])
	if r := s.router; r != nil {
		if st := r.prepared.all[id]; st != nil {
			return kindOf(parser.Sniff(st.sql))
		}
		return meter.Other
	}
	if kind, ok := s.statistics.kinds[id]; ok {
		return kind
	}
	return meter.Other
}

// statementAttrs is what is told of a statement that has ended, but for its error. The names are those of OpenTelemetry's
// semantic conventions for databases, as far as these have one.
func (s *observedSession) statementAttrs() []slog.Attr {
	t := s.trace
	attrs := append(make([]slog.Attr, 0, 11), slog.String("db.system.name", "mysql"), slog.String("db.namespace", t.keyspace),
		slog.String("user.name", s.user), slog.String("seqgate.statement.kind", s.statistics.kind.String()))
	if t.operation != "" {
		attrs = append(attrs, slog.String("db.operation.name", t.operation))
	}
	if t.text != "" {
		attrs = append(attrs, slog.String("db.query.text", t.text))
	}
	if t.ids > 0 {
		attrs = append(attrs, slog.Int64("seqgate.ids", t.ids))
	}
	if route := s.routeTaken(); route != meter.NoRoute {
		attrs = append(attrs, slog.String("seqgate.route", route.String()))
	}
	return attrs
}

// operation names what a statement does by SQL's keyword; it is empty for a kind that has none.
func operation(kind meter.Kind) string {
	switch kind {
	case meter.Select:
		return "SELECT"
	case meter.Insert, meter.InsertFilled:
		return "INSERT"
	case meter.Update:
		return "UPDATE"
	case meter.Delete:
		return "DELETE"
	case meter.Next:
		return "NEXT VALUE"
	case meter.Set:
		return "SET"
	case meter.Show:
		return "SHOW"
	case meter.Prepare:
		return "PREPARE"
	}
	return ""
}

// spanName is what the conventions name a span of a database's client.
func spanName(operation, target string) string {
	if operation == "" {
		return target
	}
	return operation + " " + target
}

// endStatement ends the statement's span, and those of calls that an error has cut.
func (s *observedSession) endStatement(err error) {
	t := s.trace
	if t.end != nil {
		s.endCalls(err)
		attrs, code := s.statementAttrs(), s.answeredCode()
		if code == 0 {
			attrs = append(attrs, slog.Uint64("db.response.returned_rows", s.answeredRows()))
		}
		t.end(failure(code, err), withCode(attrs, code)...)
	}
	t.ctx, t.end = nil, nil
}

// answeredCode is the number of the error that the client was told; 0 for none.
func (s *observedSession) answeredCode() uint16 {
	if s.router == nil && s.Answer.Fails > 0 {
		return s.Answer.Code
	}
	return s.statistics.code
}

// answeredRows is how many rows the client was told, as far as servers sent them.
func (s *observedSession) answeredRows() uint64 {
	switch r := s.router; {
	case r == nil:
		return s.Answer.Rows
	case r.last != nil:
		return r.last.Answer.Rows
	default:
		return r.counts.found
	}
}

// endCalls ends the calls of all connections that have not come to their ends.
func (s *observedSession) endCalls(err error) {
	for _, conn := range s.allConns() {
		if conn.Call.End != nil {
			conn.EndCall(err)
		}
	}
}

// beginCall begins the span of a command to a keyspace's server; nil when nobody will see it.
func (t *tracing) beginCall(k *catalog.Keyspace) (ended func(rows uint64, code uint16, err error)) {
	if t.end == nil {
		return nil
	}
	attrs := []slog.Attr{slog.String("db.system.name", "mysql"), slog.String("db.namespace", k.Name), slog.String("server.address", k.Backend.Addr)}
	if k.Shard != "" {
		attrs = append(attrs, slog.String("seqgate.shard", k.Shard))
	}
	_, end := t.tracer.Start(t.ctx, "client", "call "+k.String(), attrs...)
	return func(rows uint64, code uint16, err error) {
		end(failure(code, err), withCode([]slog.Attr{slog.Uint64("db.response.returned_rows", rows)}, code)...)
	}
}

// withCode adds the number of a server's error, if there was one.
func withCode(attrs []slog.Attr, code uint16) []slog.Attr {
	if code == 0 {
		return attrs
	}
	text := strconv.Itoa(int(code))
	return append(attrs, slog.String("db.response.status_code", text), slog.String("error.type", text))
}

// errNoAnswer stands for errors of connections.
var errNoAnswer = errors.New("the connection failed")

// failure is an error as spans tell it: texts of servers quote values.
func failure(code uint16, err error) error {
	switch {
	case code != 0:
		return fmt.Errorf("error %d", code)
	case err != nil:
		return errNoAnswer
	}
	return nil
}
