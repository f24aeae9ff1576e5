package proxy

import (
	"database/sql"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	_ "github.com/go-sql-driver/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// A server that is away before it was asked for the distance of its ids is told as one that gives none in time, and as no bug.
func TestIncrementOfAServerThatIsAway(t *testing.T) {
	db, err := sql.Open("mysql", "app:app@tcp(127.0.0.1:1)/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err = catalog.NewCache(catalog.CacheConfig{}).Increment(t.Context(), &catalog.Keyspace{DB: db}); err == nil {
		t.Fatal("a server that is away has answered")
	}
	if got := clientError(err); got.Code != mysql.ER_LOCK_WAIT_TIMEOUT {
		t.Errorf("got error %d: %s, want %d", got.Code, got.Message, mysql.ER_LOCK_WAIT_TIMEOUT)
	}
}
