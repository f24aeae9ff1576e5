package sequencetest

import (
	"cmp"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

// outcome is what a process gets from an unhappy row: an error, or ids; with both, either, as the strategy and the server
// look at the row more or less closely.
type outcome struct {
	kind  error // nil for ids
	text  string
	first int64 // the first id; 0 for an error only
}

func refused(kind error, text string) outcome { return outcome{kind: kind, text: text} }
func given(first int64) outcome               { return outcome{first: first} }

// unhappyRows is the list of what can be wrong with a sequence's table or row, as an operator would say it. The sequence
// had next_id 1 and cache 10, a process took ids 1 to 10, and then somebody ran the statements.
var unhappyRows = []struct {
	name    string
	done    string  // statements
	fresh   outcome // what a process gets that starts now
	running outcome // what the process gets that has taken ids 1 to 10; as fresh if empty
	repair  string  // statements that end the error; "" for those that the error says to run
}{
	{name: "the table is missing", done: "DROP TABLE s",
		fresh:   refused(sequence.ErrNoTable, "does not exist; choose next_id above every id in use and run: CREATE TABLE"),
		running: refused(sequence.ErrNoTable, "VALUES (0, 11, 1000)")},
	{name: "the row is missing", done: "DELETE FROM s",
		fresh:   refused(sequence.ErrNoRow, "has no row with id 0"),
		running: refused(sequence.ErrNoRow, "VALUES (0, 11, 1000)")},
	{name: "the row has another id", done: "UPDATE s SET id = 1", fresh: refused(sequence.ErrNoRow, "has no row with id 0")},
	{name: "two rows have id 0", done: "ALTER TABLE s DROP PRIMARY KEY; INSERT INTO s VALUES (0, 500, 10)",
		fresh: refused(sequence.ErrBadRow, "has several rows with id 0"), repair: "DELETE FROM s ORDER BY next_id LIMIT 1"},
	{name: "another row has another id", done: "INSERT INTO s VALUES (1, 5000, 10)", fresh: given(11)},

	{name: "next_id is NULL", done: "UPDATE s SET next_id = NULL",
		fresh:   refused(sequence.ErrBadRow, "has an unusable next_id: NULL"),
		running: refused(sequence.ErrBadRow, "SET next_id = 11 ")},
	{name: "next_id is 0", done: "UPDATE s SET next_id = 0", fresh: given(1), running: given(11)},
	{name: "next_id is negative", done: "UPDATE s SET next_id = -5", fresh: given(1), running: given(11)},
	{name: "next_id is the smallest there is", done: "UPDATE s SET next_id = -9223372036854775808", fresh: given(1), running: given(11)},
	{name: "next_id was set backwards", done: "UPDATE s SET next_id = 5", fresh: given(5), running: given(11)},
	{name: "next_id was set backwards by one", done: "UPDATE s SET next_id = 10", fresh: given(10), running: given(11)},
	{name: "next_id was set forwards", done: "UPDATE s SET next_id = 1000", fresh: given(1000)},
	{name: "next_id is 2^63-1", done: "UPDATE s SET next_id = 9223372036854775807", fresh: given(9223372036854775807)},
	{name: "2^63-1 is taken", done: "UPDATE s SET next_id = 9223372036854775807, cache = 0",
		fresh:  refused(sequence.ErrExhausted, "left up to the last id 9223372036854775807: 0"),
		repair: "UPDATE s SET next_id = 11, cache = 10"},

	{name: "cache is NULL", done: "UPDATE s SET cache = NULL", fresh: refused(sequence.ErrBadRow, "has an unusable cache: NULL")},
	{name: "cache is 0", done: "UPDATE s SET cache = 0", fresh: refused(sequence.ErrBadRow, "has an unusable cache: 0")},
	{name: "cache is negative", done: "UPDATE s SET cache = -3", fresh: refused(sequence.ErrBadRow, "has an unusable cache: -3")},
	{name: "cache was changed", done: "UPDATE s SET cache = 7", fresh: given(11)},
	{name: "cache is more than there are ids", done: "UPDATE s SET cache = 9223372036854775807", fresh: given(11)},

	{name: "next_id is no number", done: "ALTER TABLE s MODIFY next_id TEXT; UPDATE s SET next_id = 'soon'",
		fresh:   refused(sequence.ErrBadRow, "has an unusable next_id: soon"),
		running: outcome{sequence.ErrBadRow, "has an unusable next_id", 11},
		repair:  "UPDATE s SET next_id = 31; ALTER TABLE s MODIFY next_id BIGINT"},
	{name: "next_id is past 2^63-1", done: "ALTER TABLE s MODIFY next_id BIGINT UNSIGNED; UPDATE s SET next_id = 9223372036854775808",
		fresh: refused(sequence.ErrBadRow, "has an unusable next_id")},
	{name: "the column next_id is full", done: "ALTER TABLE s MODIFY next_id INT; UPDATE s SET next_id = 2147483640",
		fresh: refused(sequence.ErrBadRow, "cannot hold its next value")},
	{name: "a column is missing", done: "ALTER TABLE s CHANGE next_id next BIGINT",
		fresh: refused(sequence.ErrNotSequence, "lacks the columns"), repair: "ALTER TABLE s CHANGE next next_id BIGINT"},
	{name: "the comment is missing", done: "ALTER TABLE s COMMENT 'ids'",
		fresh: refused(sequence.ErrNotSequence, "the comment of its table does not contain"), running: given(11)},
	{name: "the table has no row locks", done: "ALTER TABLE s ENGINE = MyISAM", fresh: given(11)},
	{name: "a view stands in its place", done: "RENAME TABLE s TO s_table; CREATE VIEW s AS SELECT * FROM s_table",
		fresh: refused(sequence.ErrNotSequence, "is not a sequence"), running: given(11), repair: "DROP VIEW s; RENAME TABLE s_table TO s"},
	{name: "another table stands in its place", done: "DROP TABLE s; CREATE TABLE s (id INT PRIMARY KEY, name TEXT)",
		fresh: refused(sequence.ErrNotSequence, "is not a sequence"), running: refused(sequence.ErrNotSequence, "is not a sequence"),
		repair: "ALTER TABLE s ADD next_id BIGINT DEFAULT 11, ADD cache BIGINT DEFAULT 10, COMMENT 'vitess_sequence'; INSERT INTO s (id) VALUES (0)"},

	{name: "the table was made anew from 1", done: "DROP TABLE s; " + anew + "; INSERT INTO s VALUES (0, 1, 10)",
		fresh: given(1), running: given(11)},
	{name: "the table was made anew further on", done: "DROP TABLE s; " + anew + "; INSERT INTO s VALUES (0, 500, 10)",
		fresh: given(500)},
	{name: "the table was made anew without its row", done: "DROP TABLE s; " + anew, fresh: refused(sequence.ErrNoRow, "has no row with id 0")},
	{name: "the table was made anew with larger columns", done: "DROP TABLE s; CREATE TABLE s (id BIGINT, next_id DECIMAL(30), cache INT UNSIGNED) COMMENT 'vitess_sequence'; " +
		"INSERT INTO s VALUES (0, 11, 10)", fresh: given(11)},
}

const anew = "CREATE TABLE s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'a vitess_sequence of ours'"

// testUnhappyRows checks the list: each entry is an error that says what to do, which ends it, or ids that the process can
// use.
func testUnhappyRows(t *testing.T, h Harness) {
	for _, tt := range unhappyRows {
		t.Run(tt.name, func(t *testing.T) {
			for _, process := range []struct {
				name string
				want outcome
			}{
				{"fresh", tt.fresh},
				{"running", cmp.Or(tt.running, tt.fresh)},
			} {
				h.exec(t, "DROP VIEW IF EXISTS s", "DROP TABLE IF EXISTS s, s_table")
				h.create(t, "s", 1, 10)
				running := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")
				if _, err := running.Next(t.Context(), 10); err != nil {
					t.Fatal(err)
				}
				h.exec(t, strings.Split(tt.done, "; ")...)
				seq := running
				if process.name == "fresh" {
					seq = h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")
				}
				t.Run(process.name, func(t *testing.T) { h.wantOutcome(t, seq, process.want, tt.repair) })
			}
		})
	}
}

// wantOutcome checks what seq gives, now and after the repair of what is wrong.
func (h Harness) wantOutcome(t *testing.T, seq *sequence.Sequence, want outcome, repair string) {
	t.Helper()
	before := seq.Status().Given
	r, err := seq.Next(t.Context(), 1)
	if want.first > 0 && (err == nil || want.kind == nil) {
		if err != nil || r.First != want.first {
			t.Errorf("got %v, %v, want %d", r, err, want.first)
		}
		return
	}
	wantError(t, err, want.kind, "sequence main.s ", want.text)
	_, err = seq.Next(t.Context(), 1)
	wantError(t, err, want.kind, "sequence main.s ", want.text)
	h.exec(t, repairOf(err, repair)...)
	if r, err := seq.Next(t.Context(), 1); err != nil || r.First <= before {
		t.Errorf("after the repair: got %v, %v, want ids over %d", r, err, before)
	}
}

// testNoDatabase checks a sequence whose database is missing.
func testNoDatabase(t *testing.T, h Harness) {
	_, err := h.Open(t, h.Addr).Reserve(t.Context(), sequence.Request{Database: "no_such_database", Table: "s", Need: 1})
	wantError(t, err, sequence.ErrNoTable, "sequence no_such_database.s does not exist")
	_, err = h.Open(t, h.Addr).Reserve(t.Context(), sequence.Request{Database: "no_such_database", Table: "s", Need: 1, Cache: 10})
	wantError(t, err, sequence.ErrNoTable, "sequence no_such_database.s does not exist")
}

// repairOf returns the statements that an error says to run, or those given.
func repairOf(err error, given string) []string {
	if given == "" {
		for _, mark := range []string{"run: ", "for example: "} {
			if _, after, ok := strings.Cut(err.Error(), mark); ok {
				given = after
			}
		}
	}
	return strings.Split(given, "; ")
}

// testEdits sets the row forwards and backwards and changes its cache while callers take ids.
func testEdits(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{MaxStep: 50}), "s")
	var ids IDs
	load := startLoad()
	load.add(t, 4, seq, &ids)
	for range 20 {
		for _, edit := range []string{"next_id = next_id + 1000", "next_id = next_id - 500", "cache = 7", "next_id = 1", "cache = 20"} {
			refills := seq.Status().Refills
			h.exec(t, "UPDATE s SET "+edit+" WHERE id = 0")
			await(t, func() bool { return seq.Status().Refills > refills })
		}
	}
	load.stop()
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if st := seq.Status(); st.Raised < 20 {
		t.Errorf("got %d raises counted, want 20 at least", st.Raised)
	}
}

// testMadeAnew drops the table while a process uses it, and makes it anew with a row from 1.
func testMadeAnew(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")
	next := func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }
	var ids IDs
	if err := ids.Take(next); err != nil {
		t.Fatal(err)
	}
	h.exec(t, "DROP TABLE s")
	wantError(t, ids.Take(next), sequence.ErrNoTable, "VALUES (0, 11, 1000)")
	h.exec(t, "CREATE TABLE s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "INSERT INTO s VALUES (0, 1, 10)")
	wantError(t, ids.Take(next), sequence.ErrNotSequence)
	h.exec(t, "DROP TABLE s")
	h.create(t, "s", 1, 10)
	if err := ids.Take(next); err != nil {
		t.Fatal(err)
	}
	ids.NoDuplicates(t)
	h.wantRow(t, "s", Row{21, 10})
}
