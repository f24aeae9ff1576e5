package merge_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
)

func TestMain(m *testing.M) { servertest.Main(m) }

const shards = 4

// union is rows in one database and the same rows over several.
type union struct {
	mode  parser.Mode
	whole *rawConn
	parts [shards]*rawConn
}

const unionTable = `CREATE TABLE r (id INT PRIMARY KEY, k INT,
	g VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
	b VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	l VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci,
	v VARBINARY(20),
	u VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci,
	z VARCHAR(20) CHARACTER SET utf8mb4 COLLATE %s,
	c CHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
	tx TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
	e ENUM('zebra','ape','Cow'), s SET('x','b','a'),
	i INT, n BIGINT UNSIGNED, ti TINYINT, d DECIMAL(12,3), f FLOAT, x DOUBLE, x3 DOUBLE, x2 DOUBLE(10,2),
	dt DATETIME(3), da DATE, tm TIME(2), y YEAR, bt BIT(5), i0 INT(6) ZEROFILL)`

// noPad is a collation that does not pad with spaces.
func noPad(s *servertest.Server) string {
	if s.IsMariaDB() {
		return "utf8mb4_unicode_nopad_ci"
	}
	return "utf8mb4_0900_ai_ci"
}

func newUnion(t *testing.T, s *servertest.Server, r *rand.Rand, rows int) *union {
	t.Helper()
	u := &union{mode: parser.Mode{MariaDB: s.IsMariaDB()}}
	open := func() *rawConn {
		c := connect(t, s, s.NewDatabase(t))
		if _, err := c.Execute(fmt.Sprintf(unionTable, noPad(s))); err != nil {
			t.Fatal(err)
		}
		return c
	}
	u.whole = open()
	for i := range u.parts {
		u.parts[i] = open()
	}
	for id := range rows {
		part := r.IntN(shards)
		if rows < 20 {
			part = r.IntN(2) * 2 // some shards are empty
		}
		insert := "INSERT INTO r VALUES (" + randomRow(r, id) + ")"
		for _, c := range []*rawConn{u.whole, u.parts[part]} {
			if _, err := c.Execute(insert); err != nil {
				t.Fatalf("%s: %v", insert, err)
			}
		}
	}
	return u
}

// randomRow gives the values of a row.
func randomRow(r *rand.Rand, id int) string {
	text := func() string {
		words := []string{"a", "A", "b", "ä", "a ", "a\\t", "", " ", "ab", "a b", "B  ", "z", "ss", "a \\n"}
		return "'" + words[r.IntN(len(words))] + "'"
	}
	number := func(n int) string { return fmt.Sprint(r.IntN(2*n) - n) }
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	values := []string{fmt.Sprint(id), number(4), text(), text(), text(), text(), text(), text(), text(), text(),
		pick("'zebra'", "'ape'", "'Cow'"), pick("'x'", "'b'", "'a'", "'x,a'", "''"),
		pick(number(4), number(1<<30)), pick("0", "5", "18446744073709551615", "9223372036854775808"), number(3),
		number(2000) + "." + fmt.Sprint(r.IntN(1000)), pick("0.1", "1.25", "-3.5", "1e-7", "33554432.0", "0.1000001"),
		pick("0.5", "-2.25", "1e13", "0", "1024.125", "-1e13"),
		pick("1e20", "-1e15", "3e-5", "-1e20", "1e-15", "1e-16", "123456789012345", "0.1", "1e300"), pick("0.5", "12.25", "-7.75"),
		pick("'2024-01-01 00:00:00.5'", "'1999-12-31 23:59:59.999'", "'2024-01-01'", "'0001-02-03 01:02:03'"),
		pick("'2024-02-29'", "'2024-01-01'", "'1000-01-01'"), pick("'-10:00:00.5'", "'100:00:00'", "'08:00:00'", "'-838:59:59'", "'00:00:00'"),
		pick("2024", "1999", "0"), number(15)[:1], "0"}
	values[24] = fmt.Sprint(r.IntN(32))
	values[25] = fmt.Sprint(r.IntN(9))
	for i := 1; i < len(values); i++ {
		if r.IntN(8) == 0 {
			values[i] = "NULL"
		}
	}
	return strings.Join(values, ",")
}

// aliases has the options take names in GROUP BY for aliases where there are such: the merge sees when that is wrong.
func aliases(o parser.ScatterOptions) parser.ScatterOptions {
	o.HasColumn = func(string) (has, known bool) { return false, true }
	return o
}

// ask answers a SELECT by all shards.
func (u *union) ask(sql string, binary bool, o parser.ScatterOptions, args ...uint64) (*answer, error) {
	s, err := parser.ReadScatter([]byte(sql), u.mode, aliases(o))
	if err != nil {
		return nil, err
	}
	offset, count, err := s.Limit.Resolve(func(i int) (uint64, error) { return args[i], nil })
	if err != nil {
		return nil, err
	}
	text := s.AppendSQL(nil, []byte(sql))
	shardArgs := slices.Clone(args)
	for i := range shardArgs {
		if n, ok := s.Limit.Replaced(i, offset, count); ok {
			shardArgs[i] = n
		}
	}
	var sources []merge.Source
	var columns [][][]byte
	for _, c := range u.parts {
		a, err := c.ask(text, binary, shardArgs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		sources = append(sources, &source{rows: a.rows})
		columns = append(columns, a.columns)
	}
	rows, err := merge.New(merge.Config{Scatter: s, Columns: columns[0], Each: columns, Binary: binary, Offset: offset, Count: count, MaxRows: 10000}, sources)
	if number := (*merge.NumberError)(nil); errors.As(err, &number) && o.Numbers == nil {
		o.Numbers = number.Keys
		return u.ask(sql, binary, o, args...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	merged := &answer{columns: columns[0][:rows.Visible()]}
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return merged, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		merged.rows = append(merged.rows, slices.Clone(row))
	}
}

func (c *rawConn) ask(sql []byte, binary bool, args []uint64) (*answer, error) {
	if binary {
		return c.execute(sql, args...)
	}
	return c.query(sql)
}

// check compares the merged answer with that of one database.
func (u *union) check(t *testing.T, q query, binary bool, o parser.ScatterOptions, args ...uint64) {
	t.Helper()
	want, err := u.whole.ask([]byte(q.sql), binary, args)
	if err != nil {
		t.Fatalf("%s: %v", q.sql, err)
	}
	got, err := u.ask(q.sql, binary, o, args...)
	if err != nil {
		t.Errorf("%s\n%v", q.sql, err)
		return
	}
	if len(got.columns) != len(want.columns) {
		t.Errorf("%s: %d columns, want %d", q.sql, len(got.columns), len(want.columns))
		return
	}
	for i := range want.columns {
		if len(want.rows) == 0 {
			break // servers tell of an answer that they need not compute as they like
		}
		if diff := cmp.Diff(typeOf(want.columns[i]), typeOf(got.columns[i])); diff != "" {
			t.Errorf("%s: definition of column %d: %s", q.sql, i, diff)
		}
	}
	g, w := q.fold(got.rows), q.fold(want.rows)
	if diff := cmp.Diff(w, g); diff != "" {
		s, err := parser.ReadScatter([]byte(q.sql), u.mode, aliases(o))
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s binary=%v\n%s\n%s", q.sql, binary, s.AppendSQL(nil, []byte(q.sql)), diff)
	}
}

// typeOf gives what a definition says of the type: the character set, the type, the
// flags that do not tell of a temporary table, and the decimals.
func typeOf(definition []byte) []byte {
	end := definition[len(definition)-12:]
	typ, flags, decimals := end[6], end[7]&(mysql.NOT_NULL_FLAG|mysql.UNSIGNED_FLAG), end[9]
	switch typ {
	case mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_LONG: // YEAR() is either, as MySQL uses a temporary table or not
		typ, flags = mysql.MYSQL_TYPE_LONG, 0
	case mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_VAR_STRING: // MIN() of a SET is either in MariaDB
		typ, decimals = mysql.MYSQL_TYPE_STRING, 0
	case mysql.MYSQL_TYPE_BLOB:
		decimals = 0
	}
	return []byte{end[0], end[1], typ, flags, decimals}
}

// query is a statement and how its answers compare.
type query struct {
	sql       string
	unordered bool // rows in any order
	folded    bool // one of several equal strings stands for them all
}

func (q query) fold(rows [][]byte) []string {
	var texts []string
	for _, row := range rows {
		text := string(row)
		if q.folded {
			text = strings.ToLower(folded.Replace(text))
			text = strings.Map(func(c rune) rune {
				if c < ' ' && c != '\t' && c != '\n' { // lengths
					return -1
				}
				return c
			}, text)
		}
		texts = append(texts, text)
	}
	if q.unordered {
		slices.Sort(texts)
	}
	return texts
}

var folded = strings.NewReplacer("ä", "a", "Ä", "a", " ", "", "\xe4", "a", "\xc4", "a", "\xfb", "NULL")
