package driver_test

import (
	"testing"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/internal/servertest"
)

// A sequence that is ordered by its table is so for the driver, which has no setting for it: each id comes from the row.
func TestOrdered(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "ALTER TABLE t_seq COMMENT 'vitess_sequence ordered'")
		a, b := p.open(t, driver.Config{}), p.open(t, driver.Config{})
		for i := range int64(6) {
			db := a
			if i%2 == 1 {
				db = b
			}
			res, err := db.ExecContext(t.Context(), "INSERT INTO t (v) VALUES ('x')")
			if err != nil {
				t.Fatal(err)
			}
			if id, err := res.LastInsertId(); err != nil || id != 1001+i {
				t.Errorf("got %d, %v, want %d", id, err, 1001+i)
			}
		}
	})
}
