package proxy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// TestReferenceWritesAreTheSame holds that no UPDATE or DELETE leaves a reference table with other rows in another shard.
func TestReferenceWritesAreTheSame(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		for _, e := range []string{"NOW(6)", "SYSDATE(6)", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP(6)", "CURTIME(6)", "CURDATE()", "CURRENT_DATE",
			"LOCALTIME", "UTC_TIMESTAMP(6)", "UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(NOW(6))", "MICROSECOND(NOW(6))", "UUID()", "UUID_SHORT()",
			"RAND()", "HEX(RANDOM_BYTES(4))", "@@timestamp", "CONCAT('a', @@hostname)", "DATABASE()",
			"VERSION()", "DEFAULT", "DEFAULT(v)", "(SELECT r.v FROM (SELECT v FROM ref LIMIT 1) r)", "some_function(1)"} {
			b.refused(t, "UPDATE ref SET v = "+e+" WHERE id = 1")
		}
		b.refused(t, "DELETE FROM ref WHERE y < YEAR(NOW())", "DELETE FROM ref LIMIT 1")
		b.affects(t, "UPDATE ref SET v = UPPER(CONCAT(v, IF(id = 1, '-', 'x'), DATE_FORMAT('2020-01-02' + INTERVAL 1 DAY, '%d'))) WHERE id < 3",
			"UPDATE ref SET v = CONCAT(CHAR(65), (SELECT COUNT(*) FROM (SELECT id FROM ref) r), JSON_EXTRACT('[1]', '$[0]')) WHERE id = 1",
			"UPDATE ref SET y = YEAR(FROM_UNIXTIME(UNIX_TIMESTAMP('2020-05-05'))) WHERE id = 2", "DELETE FROM ref WHERE id = 2005")
		want := columnOf(t, b.single, "SELECT CONCAT_WS('|', id, v, y) FROM ref ORDER BY id")
		for _, shard := range b.g.shards {
			if diff := cmp.Diff(want, columnOf(t, shard, "SELECT CONCAT_WS('|', id, v, y) FROM ref ORDER BY id")); diff != "" {
				t.Errorf("a shard's rows (- one server, + shard):\n%s", diff)
			}
		}
	})
}
