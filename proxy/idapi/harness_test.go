package idapi_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/vschema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schema = `{"keyspaces": {
	"main": {
		"generators": {
			"flake": {"type": "snowflake", "params": {"layout": "twitter", "worker": 3, "zone": 2}},
			"u": {"type": "uuid7"}, "o": {"type": "objectid"},
			"orders": {"type": "leaf", "params": {"table": "leaf_alloc", "biz_tag": "order-tag"}}
		},
		"tables": {"user_seq": {"type": "sequence"}, "both": {"type": "sequence"}, "secret_seq": {"type": "sequence"}}
	},
	"other": {"tables": {"both": {"type": "sequence"}, "lonely_seq": {"type": "sequence"}}}
}}`

// emptyServer is a database without a table.
type emptyServer struct{ away error }

func (e emptyServer) Connect(context.Context) (driver.Conn, error) {
	if e.away != nil {
		return nil, e.away
	}
	return emptyConn{}, nil
}
func (e emptyServer) Driver() driver.Driver { return nil }

type emptyConn struct{ driver.Conn }

func (emptyConn) Close() error { return nil }
func (emptyConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return noRows{}, nil
}

type noRows struct{}

func (noRows) Columns() []string         { return []string{"a", "b", "c"} }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }

// fixture is the API before a server whose sequences are in memory.
type fixture struct {
	t         testing.TB
	api       *idapi.Handler
	proxy     *proxy.Server
	sequences *sequence.Registry
	store     *sequencetest.Store
}

type options struct {
	schema string // the schema above when empty
	store  *sequencetest.Store
	tokens []idapi.Token // one that may do all when nil, named app, of the secret below
	maxN   int64
	away   error // of the server that knows tables

	timeout time.Duration // of sequences; long enough for every machine when 0
}

const secret = "correct-horse-battery-staple"

func newFixture(t testing.TB, o options) *fixture {
	t.Helper()
	if o.schema == "" {
		o.schema = schema
	}
	v, err := vschema.Load("vschema.json", []byte(o.schema))
	if err != nil {
		t.Fatal(err)
	}
	if o.store == nil {
		o.store = sequencetest.NewStore(1001, 1000)
	}
	if o.tokens == nil {
		o.tokens = []idapi.Token{{Name: "app", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"*"}}}
	}
	f := &fixture{t: t, store: o.store, sequences: sequencetest.Registry(o.store, sequence.Config{Timeout: cmp.Or(o.timeout, time.Minute)})}
	keyspaces := make(map[string]*catalog.Keyspace)
	for _, k := range v.Keyspaces() {
		db := sql.OpenDB(emptyServer{o.away})
		t.Cleanup(func() { _ = db.Close() })
		keyspaces[k.Name] = &catalog.Keyspace{Name: k.Name, Database: k.Name, DB: db, Backend: &backend.Backend{Network: "tcp", Addr: "127.0.0.1:1"}}
	}
	generators := generate.New(generate.Config{})
	f.proxy, err = proxy.New(proxy.Config{Keyspaces: keyspaces, Default: "main", Sequences: f.sequences, VSchema: v, Generators: generators,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.proxy.Shutdown(context.Background())
		_ = f.sequences.Close(context.Background()) // the store may be away
		if err := generators.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	f.api = idapi.New(idapi.Config{Source: f.proxy, Tokens: o.tokens, MaxN: o.maxN})
	return f
}

// request asks with a token; with none when it is empty.
func (f *fixture) request(method, path, token string) *httptest.ResponseRecorder {
	f.t.Helper()
	q := httptest.NewRequest(method, path, nil)
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, q)
	return w
}

type answer struct {
	Sequence, Key, First, Last string
	N, Increment               int64
	IDs                        []string
	Error                      struct {
		Code, Message string
		Errno         uint16
	}
}

// get asks for JSON.
func (f *fixture) get(path string) (int, answer) {
	f.t.Helper()
	w := f.request(http.MethodGet, path, secret)
	return w.Code, decode(f.t, w)
}

func decode(t testing.TB, w *httptest.ResponseRecorder) (a answer) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q, want JSON: %s", got, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return a
}
