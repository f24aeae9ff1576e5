package catalog

import (
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
)

// A table that cannot be described is logged with the keyspace and the server.
func TestUndescribedTableNamesServer(t *testing.T) {
	const addr = "127.0.0.1:1"
	away, err := sql.Open("mysql", "user@tcp("+addr+")/d")
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	var out strings.Builder
	c := NewCache(CacheConfig{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	k := &Keyspace{Name: "customer", Shard: "-80", Database: "d", DB: away, Backend: &backend.Backend{Addr: addr}}
	if result := <-c.ask(k, catalogKey{k.String(), "d", "t"}, 0); result.Err == nil {
		t.Fatal("a table was described without a server")
	}
	if want := `level=WARN msg="table not described" keyspace=customer:-80 server=127.0.0.1:1 table=d.t err=`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
