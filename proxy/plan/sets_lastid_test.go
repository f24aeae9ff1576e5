package plan

import (
	"testing"

	"github.com/seqgate/seqgate/parser"
)

// One rule says of queries and of INSERTs whether they set LAST_INSERT_ID().
func TestSetsLastID(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"SELECT LAST_INSERT_ID()", false},
		{"SELECT last_insert_id ( )", false},
		{"SELECT `LAST_INSERT_ID`()", false},
		{"SELECT @@last_insert_id, @@SESSION.last_insert_id, @@local.LAST_INSERT_ID", false},
		{"SELECT @last_insert_id", false},
		{"SELECT t.last_insert_id FROM t", false},
		{"SELECT LAST_INSERT_ID(5)", true},
		{"SELECT LAST_INSERT_ID(), LAST_INSERT_ID(a) FROM t", true},
		{"SELECT LAST_INSERT_ID/* */(5)", true},
		{"SELECT LAST_INSERT_ID -- x\n(5)", true},
		{"SELECT `LAST_INSERT_ID`(5)", true},
		{"SELECT '@', LAST_INSERT_ID(5)", true},
	} {
		if got := EffectOf(parser.Select, []byte(tt.sql))&MayChangeLastID != 0; got != tt.want {
			t.Errorf("%s: %v as a query, want %v", tt.sql, got, tt.want)
		}
		if got := setsLastID([]byte(tt.sql)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sql, got, tt.want)
		}
	}
}
