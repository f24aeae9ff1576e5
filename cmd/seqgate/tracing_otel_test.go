//go:build otel

package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
)

// spanCollector is an endpoint of OTLP over HTTP.
type spanCollector struct {
	mu    sync.Mutex
	spans map[string]*tracepb.Span // the latest by name
	names []string
}

func (c *spanCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range request.GetResourceSpans() {
		for _, in := range of.GetScopeSpans() {
			for _, span := range in.GetSpans() {
				c.spans[span.GetName()] = span
				c.names = append(c.names, span.GetName())
			}
		}
	}
}

// exportSpans has a seqgate export the spans of an INSERT, and of a trace that its client began, to a collector. It is
// repeated when the last spans were not exported in the time for that.
func exportSpans(t *testing.T, s *servertest.Server) (spans *spanCollector, database string) {
	t.Helper()
	for range 3 {
		spans, database = &spanCollector{spans: map[string]*tracepb.Span{}}, s.NewDatabase(t)
		if log := serveTraced(t, s.DSN(database), s.Open(t, database), spans); !strings.Contains(log, "the last spans not exported") {
			return spans, database
		}
	}
	t.Fatal("the last spans were not exported, three times")
	return nil, ""
}

// serveTraced inserts through a seqgate that exports to a collector, and gives its log when it has ended.
func serveTraced(t *testing.T, dsn string, direct *sql.DB, spans *spanCollector) string {
	t.Helper()
	run1(t, direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(64))",
		"CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO t_seq VALUES (0, 1, 10)")
	server := httptest.NewServer(spans)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)

	cfg, err := app.Loader(env(map[string]string{"SEQGATE_TRACING_RATIO": "1", "SEQGATE_LISTEN": "127.0.0.1:0"})).Upstream(dsn)
	if err != nil {
		t.Fatal(err)
	}
	log := &testLog{}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- app.Serve(ctx, cfg, nil, log, func(addr string) { ready <- addr }) }()
	var addr string
	select {
	case addr = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	account, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := openClient(t, account.User, account.Passwd, addr, account.DBName)
	run1(t, db, "/*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'*/ INSERT INTO t (v) VALUES ('a secret')")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// The spans of an INSERT belong to the trace that its client began, stand below each other, and tell no values.
func TestTracing(t *testing.T) {
	spans, database := exportSpans(t, servertest.First(t))
	spans.mu.Lock()
	defer spans.mu.Unlock()
	statement := spans.spans["INSERT "+database]
	if statement == nil {
		t.Fatalf("got spans of %q, want the INSERT", spans.names)
	}
	if id := hex.EncodeToString(statement.GetTraceId()); id != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("it belongs to trace %s, want the client's", id)
	}
	for _, name := range []string{"wait for ids", "refill", "call " + database} {
		below := spans.spans[name]
		if below == nil || string(below.GetParentSpanId()) != string(statement.GetSpanId()) {
			t.Errorf("%s: got %v, want it below the statement", name, below)
		}
	}
	for _, span := range spans.spans {
		if strings.Contains(span.String(), "secret") {
			t.Errorf("a value is told: %v", span)
		}
	}
}
