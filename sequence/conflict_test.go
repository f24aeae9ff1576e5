package sequence_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A cluster of several writers undoes what another node was faster with. It is tried again at once, on the same connection,
// and counts as a conflict: nothing is away.
func TestClusterConflicts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, number := range []int{1213, 3101, 1020} {
			for _, strategy := range strategies {
				t.Run(fmt.Sprint(number, " ", strategy), func(t *testing.T) {
					h := harness(t, s, strategy)
					mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 1, 10),
						// of four attempts of a connection three lose
						fmt.Sprintf("CREATE TRIGGER lose BEFORE UPDATE ON s FOR EACH ROW BEGIN SET @n = COALESCE(@n, 0) + 1;"+
							" IF @n %% 4 <> 0 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = %d, MESSAGE_TEXT = 'another was faster'; END IF; END", number))
					seq := get(t, sequencetest.Registry(openStore(t, s, s.Addr, strategy), sequence.Config{Timeout: time.Minute}),
						sequence.Name{Database: h.Database, Table: "s"})
					for range 3 {
						if _, err := seq.Next(t.Context(), 10); err != nil {
							t.Fatal(err)
						}
					}
					if st := seq.Status(); st.Failures != 0 || st.LastError != nil || st.Conflicts != 9 {
						t.Errorf("%d failures (%v), %d conflicts, want 9 conflicts", st.Failures, st.LastError, st.Conflicts)
					}
				})
			}
		}
	})
}
