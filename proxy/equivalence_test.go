package proxy_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

var (
	equivalenceRounds   = flag.Int("equivalence.rounds", 12, "how often to run random statements on fresh rows, unsharded and on shards")
	equivalencePrepared = flag.Bool("equivalence.prepared", true, "x")
	equivalenceSeed     = flag.Uint64("equivalence.seed", 1, "what the first of those rounds begins from, the next with 1 more")
)

const (
	roundStatements = 150
	firstOpenID     = 100_000 // above what statements give themselves
	oneDatabase     = "one unsharded database"
)

// equalTables are those of the unsharded database. In shards the ids of children
// and of text keys have no AUTO_INCREMENT.
var equalTables = []string{
	"CREATE TABLE user (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) COLLATE utf8mb4_unicode_ci, code VARCHAR(20) COLLATE utf8mb4_bin, age INT, score DECIMAL(8,2)," +
		" ratio DOUBLE, born DATE, at DATETIME(3), kind ENUM('low', 'mid', 'high'), flags BIGINT UNSIGNED, raw VARBINARY(16), n INT NOT NULL DEFAULT 0) CHARACTER SET utf8mb4",
	"CREATE TABLE child (cid BIGINT PRIMARY KEY AUTO_INCREMENT, user_id BIGINT NOT NULL, v VARCHAR(20) COLLATE utf8mb4_unicode_ci, w INT, KEY (user_id)) CHARACTER SET utf8mb4",
	"CREATE TABLE strkey (email VARCHAR(40) COLLATE utf8mb4_unicode_ci PRIMARY KEY, id BIGINT AUTO_INCREMENT, note VARCHAR(20) COLLATE utf8mb4_bin, KEY (id)) CHARACTER SET utf8mb4",
	"CREATE TABLE ref (id BIGINT PRIMARY KEY, v VARCHAR(20)) CHARACTER SET utf8mb4",
}

// A pair is the same rows in one unsharded database and in shards behind seqgate.
type pair struct {
	gate   *shardedGate
	single *sql.DB
	dsn    string         // of single
	key    vschema.Vindex // of users and children
	loose  vschema.Vindex // of strkey
}

func newPair(t *testing.T, s *servertest.Server, shards int) *pair {
	t.Helper()
	plain := slices.Clone(equalTables)
	for i := 1; i < len(plain); i++ {
		plain[i] = strings.ReplaceAll(plain[i], " AUTO_INCREMENT", "")
	}
	database := s.NewDatabase(t)
	p := &pair{gate: newShardedGate(t, s, shards, gateOptions{vschema: shardedVSchema}, plain...), single: s.Open(t, database), dsn: s.DSN(database)}
	for _, sequence := range []string{"user_seq", "child_seq", "strkey_seq"} {
		exec(t, p.gate.direct, fmt.Sprintf("UPDATE %s SET next_id = %d", sequence, firstOpenID))
	}
	exec(t, p.single, equalTables...)
	var err error
	if p.key, err = vschema.NewVindex("hash", nil, nil); err != nil {
		t.Fatal(err)
	}
	if p.loose, err = vschema.NewVindex("unicode_loose_md5", nil, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

// shard gives the index of the shard of a row.
func (p *pair) shard(t *testing.T, v vschema.Vindex, value vschema.Value) int {
	t.Helper()
	id, err := v.Map(nil, []vschema.Value{value})
	if err != nil {
		t.Fatal(err)
	}
	return p.gate.layout.Find(id)
}

// fill puts the same random rows into both, past seqgate.
func (p *pair) fill(t *testing.T, g *grammar) {
	t.Helper()
	batches := make(map[*sql.DB][]string)
	add := func(v vschema.Vindex, value vschema.Value, row string) {
		for _, db := range []*sql.DB{p.single, p.gate.shards[p.shard(t, v, value)]} {
			batches[db] = append(batches[db], row)
		}
	}
	flush := func(table string) {
		for _, db := range append(slices.Clone(p.gate.shards), p.single) {
			exec(t, db, "DELETE FROM "+table)
			if rows := batches[db]; len(rows) > 0 {
				exec(t, db, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
			}
		}
		clear(batches)
	}
	for id := range int64(60) {
		add(p.key, vschema.Int(id+1), fmt.Sprintf("(%d, %s)", id+1, g.row(userColumns)))
	}
	flush("user")
	for cid := range int64(90) {
		user := 1 + g.Int64N(60)
		add(p.key, vschema.Int(user), fmt.Sprintf("(%d, %d, %s, %d)", cid+1, user, g.val(pick(g, someNames...)), g.IntN(9)))
	}
	flush("child")
	for i, mail := range []string{"ann@example.com", "bob@example.com", "Zoe@Example.org"} {
		add(p.loose, vschema.Text([]byte(mail)), fmt.Sprintf("('%s', %d, 'a')", mail, i+1))
	}
	flush("strkey")
	for _, db := range append(slices.Clone(p.gate.shards), p.single) {
		exec(t, db, "DELETE FROM ref", "INSERT INTO ref VALUES (0, 'none'), (1, 'one'), (2, 'two'), (3, NULL), (22, 'more')")
	}
}

// outcome is what a client sees of a statement.
type outcome struct {
	Errno    uint16
	Affected int64
	InsertID int64
	Columns  string
	Rows     []string
}

func runStatement(t *testing.T, c *sql.Conn, s statement) outcome {
	t.Helper()
	if !s.reads {
		result, err := c.ExecContext(t.Context(), s.sql, s.args...)
		o := outcome{Errno: errno(err)}
		if err == nil {
			o.Affected, _ = result.RowsAffected()
			o.InsertID, _ = result.LastInsertId()
		}
		return o
	}
	rows, err := c.QueryContext(t.Context(), s.sql, s.args...)
	if err != nil {
		return outcome{Errno: errno(err)}
	}
	lines := strings.Split(strings.TrimRight(dumpRows(t, rows), "\n"), "\n")
	o := outcome{Columns: lines[0], Rows: lines[1:]}
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "error: ") {
		return outcome{Errno: errno(rows.Err())}
	}
	if s.kind == "session" || len(o.Rows) == 0 {
		// What seqgate answers itself may have another type of integers; and for LIMIT 0
		// MariaDB leaves out the step that makes an ENUM of the MAX() of one.
		o.Columns = ""
	}
	if s.folded {
		for i := range o.Rows {
			o.Rows[i] = fold(o.Rows[i])
		}
	}
	if !s.ordered {
		sort.Strings(o.Rows)
	}
	return o
}

// fold gives texts that the collation has equal one spelling.
func fold(text string) string {
	return strings.NewReplacer("é", "e", "ï", "i", "ß", "ss").Replace(strings.ToLower(text))
}

// statistics counts what became of the statements of each kind.
type statistics map[string]*struct{ run, refused, failed int }

func (c statistics) of(kind string) *struct{ run, refused, failed int } {
	if c[kind] == nil {
		c[kind] = new(struct{ run, refused, failed int })
	}
	return c[kind]
}

// Random statements have the same results on one unsharded database and on four
// shards through seqgate, which refuses no more than a few of those that it should
// answer.
func TestEquivalence(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		p := newPair(t, s, 4)
		counts := make(statistics)
		for i := range *equivalenceRounds {
			seed := *equivalenceSeed + uint64(i)
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { p.round(t, seed, counts) })
		}
		for _, k := range productions {
			c := counts.of(k.kind)
			t.Logf("%-30s %4d run, %3d refused, %3d failed on both", k.kind, c.run, c.refused, c.failed)
			if share := float64(c.refused) / float64(max(1, c.run)); share > k.most {
				t.Errorf("%s: %d of %d were refused, want at most %.0f %%", k.kind, c.refused, c.run, 100*k.most)
			}
		}
	})
}

// round runs statements on fresh rows. It ends with the first difference, after
// which the rows may differ too.
func (p *pair) round(t *testing.T, seed uint64, counts statistics) {
	g := &grammar{Rand: rand.New(rand.NewPCG(seed, 0))}
	p.fill(t, g)
	single, sharded := conn(t, openDSN(t, p.dsn)), conn(t, p.gate.open(t, "customer", ""))
	var run []string
	var last known
	for i := range roundStatements {
		s := g.next()
		if s.kind == "session" && !last.known() {
			continue
		}
		got, ok := p.compare(t, single, sharded, s, counts)
		if !ok {
			t.Fatalf("statement %d of seed %d; before it:\n%s", i, seed, strings.Join(run[max(0, len(run)-10):], "\n"))
		}
		last.note(s, got)
		run = append(run, fmt.Sprintf("%s %q", s.sql, s.args))
	}
	for _, c := range []*sql.Conn{single, sharded} {
		exec(t, c, "COMMIT")
	}
	p.compareTables(t)
}

// known tells whether both sessions have to give the same for what statements left
// behind: not after one that was run on one of them only, and not after an INSERT that
// failed, which leaves LAST_INSERT_ID() undefined
// (https://dev.mysql.com/doc/refman/9.0/en/information-functions.html).
type known struct{ refused, undefined bool }

func (k *known) known() bool { return !k.refused && !k.undefined }

func (k *known) note(s statement, got outcome) {
	k.refused = got.Errno == 1235
	if s.table != "" && !k.refused {
		k.undefined = got.Errno != 0 || k.undefined && got.InsertID < firstOpenID
	}
}

// compare runs a statement on both, gives the outcome on the shards, and reports
// whether they are equal.
// Ids that seqgate gave are what the unsharded database is told to go on from.
func (p *pair) compare(t *testing.T, single, sharded *sql.Conn, s statement, counts statistics) (got outcome, ok bool) {
	t.Helper()
	c := counts.of(s.kind)
	c.run++
	got = runStatement(t, sharded, s)
	if got.Errno == 1235 {
		c.refused++
		t.Logf("refused: %s", s.sql)
		return got, true
	}
	if s.table != "" && got.InsertID >= firstOpenID {
		exec(t, single, fmt.Sprintf("SET insert_id = %d", got.InsertID))
	}
	want := runStatement(t, single, s)
	if want.Errno != 0 {
		c.failed++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s %q (-%s +seqgate):\n%s", s.kind, s.sql, s.args, oneDatabase, diff)
		return got, false
	}
	return got, true
}

// compareTables checks that both have the same rows in the end, and that each is in
// its shard.
func (p *pair) compareTables(t *testing.T) {
	t.Helper()
	for table, of := range map[string]struct {
		key    string
		vindex vschema.Vindex
	}{"user": {"id", p.key}, "child": {"user_id", p.key}, "strkey": {"email", p.loose}} {
		want := rowsOf(t, p.single, table, of.key, nil)
		var got []string
		for i, shard := range p.gate.shards {
			got = append(got, rowsOf(t, shard, table, of.key, func(key string) {
				value := vschema.Text([]byte(key))
				if at := p.shard(t, of.vindex, value); at != i {
					t.Errorf("the row of %s with %s = %s is in shard %d, and belongs into %d", table, of.key, key, i, at)
				}
			})...)
		}
		sort.Strings(want)
		sort.Strings(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows of %s (-%s +shards):\n%s", table, oneDatabase, diff)
		}
	}
}

// rowsOf gives the rows of a table as texts, and tells each one's key.
func rowsOf(t *testing.T, db *sql.DB, table, key string, each func(key string)) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), "SELECT "+key+", "+table+".* FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sql.RawBytes, len(names))
	into := make([]any, len(names))
	for i := range into {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		if each != nil {
			each(string(values[0]))
		}
		all = append(all, fmt.Sprintf("%q", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
