package proxy_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/vschema"
)

// insertVSchema is that of the reference cases for INSERT, with a few tables more.
const insertVSchema = `{"keyspaces": {
	"main": {"tables": {"user_seq": {"type": "sequence"}, "t_seq": {"type": "sequence"},
		"ua": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}},
	"customer": {"sharded": true,
		"vindexes": {"hash": {"type": "hash"}, "md5": {"type": "unicode_loose_md5"}, "xx": {"type": "xxhash"}, "user_index": {"type": "hash"}},
		"tables": {
			"user": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}},
			"ux": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "user_seq"}},
			"child": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "cid", "sequence": "user_seq"}},
			"strkey": {"column_vindexes": [{"column": "email", "name": "md5"}], "auto_increment": {"column": "id", "sequence": "user_seq"}},
			"plain": {"column_vindexes": [{"column": "id", "name": "xx"}]},
			"pin": {"pinned": "80", "auto_increment": {"column": "id", "sequence": "user_seq"}},
			"ref": {"type": "reference", "auto_increment": {"column": "id", "sequence": "user_seq"}}}}}}`

var insertTables = []string{
	"CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64), age INT)",
	"CREATE TABLE ux (id BIGINT PRIMARY KEY, name VARCHAR(64) UNIQUE, n INT DEFAULT 0)",
	"CREATE TABLE child (cid BIGINT PRIMARY KEY, user_id BIGINT, v VARCHAR(64))",
	"CREATE TABLE strkey (email VARCHAR(64) PRIMARY KEY, id BIGINT)",
	"CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(8))",
	"CREATE TABLE pin (id BIGINT PRIMARY KEY, v VARCHAR(64))",
	"CREATE TABLE ref (id BIGINT PRIMARY KEY, v VARCHAR(64))",
}

// newInsertGate starts a seqgate for INSERTs into n shards, and gives a client of
// the sharded keyspace.
func newInsertGate(t testing.TB, s *servertest.Server, n int) (*shardedGate, *sql.Conn) {
	t.Helper()
	return newInsertGateWith(t, s, n, gateOptions{})
}

func newInsertGateWith(t testing.TB, s *servertest.Server, n int, o gateOptions) (*shardedGate, *sql.Conn) {
	t.Helper()
	o.vschema = insertVSchema
	g := newShardedGate(t, s, n, o, insertTables...)
	exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, val VARCHAR(64) UNIQUE, n INT DEFAULT 0)")
	return g, conn(t, g.open(t, "customer", ""))
}

// vindexOf gives a vindex by the name of its type.
func vindexOf(t testing.TB, name string) vschema.Vindex {
	t.Helper()
	v, err := vschema.NewVindex(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rows gives a query's rows over all shards, sorted, and fails when one is not on the
// shard that the vindex gives for its first column.
func (g *shardedGate) rows(t testing.TB, vindex, query string) []string {
	t.Helper()
	var all []string
	for shard, db := range g.shards {
		for _, row := range textRows(t, db, query) {
			key := vschema.Text([]byte(row[0]))
			if number, err := strconv.ParseInt(row[0], 10, 64); err == nil {
				key = vschema.Int(number)
			}
			id, err := vindexOf(t, vindex).Map(nil, []vschema.Value{key})
			if err != nil {
				t.Fatalf("row %v on shard %d: %v", row, shard, err)
			}
			if want := g.layout.Find(id); want != shard {
				t.Errorf("row %v is on shard %d, want %d", row, shard, want)
			}
			all = append(all, strings.Join(row, "/"))
		}
	}
	slices.Sort(all)
	return all
}

// textRows gives a query's rows as text.
func textRows(t testing.TB, db *sql.DB, query string) (all [][]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = v.String
			if !v.Valid {
				row[i] = "NULL"
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// insertRow is one line of section C: statements, and what the last of them gives.
type insertRow struct {
	name       string
	setup      []string
	stmt       string
	errno      uint16
	text       string // in the error
	affected   int64
	id         int64
	query      string // of the rows, the vindex column first; of table user when empty
	vindex     string // hash when empty
	rows       []string
	next       int64 // the sequence's value afterwards; not looked at when 0
	lastInsert int64 // LAST_INSERT_ID() afterwards; that of id when 0
}

const userNames = "SELECT id, name FROM user"

var insertRows = []insertRow{
	{name: "C1 one row", stmt: "insert into user(name,age) values('a',1)", affected: 1, id: 1, rows: []string{"1/a"}, next: 2},
	{name: "C2 four rows", stmt: "insert into user(name) values('a'),('b'),('c'),('d')", affected: 4, id: 1,
		rows: []string{"1/a", "2/b", "3/c", "4/d"}, next: 5},
	// As in a native column, the new ids are above an own one that stands before them.
	{name: "C3 open and explicit", stmt: "insert into user(id,name) values(null,'n'),(5000,'g'),(0,'z'),(default,'d')", affected: 4, id: 5001,
		rows: []string{"5000/g", "5001/n", "5002/z", "5003/d"}},
	{name: "C4 key in quotes", stmt: "insert into user(id,name) values('5002','s')", affected: 1, id: 5002, rows: []string{"5002/s"}, lastInsert: -1},
	{name: "C5 negative", stmt: "insert into user(id,name) values(-7,'neg')", affected: 1, id: -7, rows: []string{"-7/neg"}, lastInsert: -1},
	{name: "C6 decimal", stmt: "insert into user(id,name) values(1.5,'f')", errno: 1105, text: "could not map [DECIMAL(1.5)] to a keyspace id", next: 1},
	{name: "C6 text", stmt: "insert into user(id,name) values(4,'x'),('abc','f')", errno: 1105, text: `could not map [VARCHAR("abc")] to a keyspace id`, next: 1},
	{name: "C7 nothing given", stmt: "insert into user() values()", affected: 1, id: 1, rows: []string{"1/NULL"}},
	{name: "C7 set", stmt: "insert into user set name='x'", affected: 1, id: 1, rows: []string{"1/x"}},
	{name: "C7 no column list", stmt: "insert into user values(null,'x',1)", affected: 1, id: 1, rows: []string{"1/x"}},
	{name: "C8 duplicate on one shard", setup: []string{"insert into user(id,name) values(5000,'old')"},
		stmt:  "insert into user(id,name) values(7001,'a'),(5000,'dup'),(7002,'b'),(7003,'c'),(7004,'d')",
		errno: 1062, text: "PRIMARY'", rows: []string{"5000/old"}},
	{name: "C10 ignore", setup: []string{"insert into user(id,name) values(5000,'old')"},
		stmt: "insert ignore into user(id,name) values(5000,'i'),(7005,'ok')", affected: 1, id: 7005, rows: []string{"5000/old", "7005/ok"}, lastInsert: -1},
	{name: "C11 on duplicate key", stmt: "insert into ux(name) values('u1') on duplicate key update n=n+1", affected: 1, id: 1,
		query: "SELECT id, name, n FROM ux", rows: []string{"1/u1/0"}},
	{name: "C11 on duplicate key, there", setup: []string{"insert into ux(id,name) values(5,'u1'),(4,'u2')"},
		stmt: "insert into ux(id,name) values(5,'x'),(4,'y') on duplicate key update n=n+1", affected: 4, id: 4, lastInsert: -1,
		query: "SELECT id, name, n FROM ux", rows: []string{"4/u2/1", "5/u1/1"}},
	{name: "C12 vindex column to itself", stmt: "insert into ux(name) values('u1') on duplicate key update id=values(id)", affected: 1, id: 1,
		query: "SELECT id, name FROM ux", rows: []string{"1/u1"}},
	{name: "C13 vindex column to another", stmt: "insert into ux(name) values('u1') on duplicate key update id=7", errno: 1235, text: "cannot update vindex column", next: 1},
	{name: "C13 vindex column to last_insert_id", stmt: "insert into ux(name) values('u1') on duplicate key update id=last_insert_id(id)", errno: 1235, text: "cannot update vindex column", next: 1},
	{name: "C15 replace with id", setup: []string{"insert into user(id,name) values(5,'old')"}, stmt: "replace into user(id,name) values(5,'new'),(4,'four')",
		affected: 3, id: 4, lastInsert: -1, rows: []string{"4/four", "5/new"}},
	{name: "C15 replace without id", stmt: "replace into user(name) values('a'),('b'),('c'),('d')", affected: 4, id: 1, rows: []string{"1/a", "2/b", "3/c", "4/d"}},
	{name: "C16 child table", stmt: "insert into child(user_id,v) values(1,'a'),(2,'b'),(4,'c')", affected: 3, id: 1,
		query: "SELECT user_id, cid, v FROM child", rows: []string{"1/1/a", "2/2/b", "4/3/c"}},
	{name: "C17 vindex column absent", stmt: "insert into child(v) values('x')", errno: 1105, text: "could not map [NULL] to a keyspace id", next: 1},
	{name: "C17 vindex column NULL", stmt: "insert into child(user_id,v) values(1,'a'),(null,'x')", errno: 1105, text: "could not map [NULL] to a keyspace id", next: 1,
		query: "SELECT user_id FROM child"},
	{name: "C21 query without table", stmt: "insert into user(id) values((select 5))", affected: 1, id: 5, rows: []string{"5/NULL"}, lastInsert: -1},
	{name: "C21 query on a table", stmt: "insert into user(id) values((select max(id) from ux))", errno: 1235, text: "does not support", next: 1},
	{name: "C22 no constant", stmt: "insert into user(id,name) values(rand()*1000,'r')", errno: 1235, text: "rand()*1000", next: 1},
	{name: "C22 any expression elsewhere", stmt: "insert into user(name,age) values(concat('a',1+1),year(now())-year(now()))", affected: 1, id: 1, rows: []string{"1/a2"}},
	{name: "C23 constant", stmt: "insert into user(id,name) values(length('abc')+20000,'e')", affected: 1, id: 20003, rows: []string{"20003/e"}, lastInsert: -1},
	{name: "C23 constant that is open", stmt: "insert into user(id,name) values(length('')*5,'e'),(nullif(1,1),'f')", affected: 2, id: 1, rows: []string{"1/e", "2/f"}},
	{name: "C26 string keys", stmt: "insert into strkey(email) values('A@x'),('b@x')", affected: 2, id: 1, vindex: "unicode_loose_md5",
		query: "SELECT email, id FROM strkey", rows: []string{"A@x/1", "b@x/2"}},
	{name: "C28 vindex name", stmt: "insert into user_index(id) values(1)", errno: 1105, text: "vindex cannot be modified"},
	{name: "not in the vschema", stmt: "insert into nosuch(id) values(1)", errno: 1146, text: "in the vschema"},
	{name: "qualified by the keyspace", stmt: "insert into customer.user(name) values('a'),('b'),('c'),('d')", affected: 4, id: 1,
		rows: []string{"1/a", "2/b", "3/c", "4/d"}},
	{name: "no auto_increment", stmt: "insert into plain(id,v) values(1,'a'),(2,'b'),('3','c')", affected: 3, vindex: "xxhash",
		query: "SELECT id, v FROM plain", rows: []string{"1/a", "2/b", "3/c"}},
	{name: "text of another spelling in an integer column", stmt: "insert into plain(id,v) values('007','a')", affected: 1, vindex: "xxhash",
		query: "SELECT id, v FROM plain", rows: []string{"7/a"}},
	{name: "a value that would be clipped", stmt: "insert ignore into plain(id,v) values(5000000000,'a')", errno: 1235, text: "store as another one"},
	{name: "NULL where there is no strict mode", setup: []string{"set sql_mode=''"}, stmt: "insert into child(user_id) values(null)", errno: 1105, text: "[NULL]"},
	{name: "decimal in a column of text", stmt: "insert into strkey(email) values(.5),('0.5x')", affected: 2, id: 1, vindex: "unicode_loose_md5",
		query: "SELECT CONCAT(email, ''), id FROM strkey", rows: []string{"0.5/1", "0.5x/2"}},
	{name: "wrong number of values", stmt: "insert into user(id,name) values(1,'a'),(2)", errno: 1136, next: 1},
	{name: "wrong number without a list", stmt: "insert into user values(null,'a')", errno: 1136, next: 1},
	{name: "column twice", stmt: "insert into user(id,id) values(1,2)", errno: 1110, next: 1},
	{name: "unknown column", stmt: "insert into user(name,nosuch) values('a',1)", errno: 1054},
	{name: "strict error on one shard", stmt: "insert into user(name,age) values('a',1),('b',1),('c',1),('d','x')", errno: 1366},
}

// Each row of section C of the reference cases that is one statement.
func TestShardedInsert(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		shards := []int{2}
		if s.IsMariaDB() {
			shards = append(shards, 4)
		}
		for _, n := range shards {
			for _, tt := range insertRows {
				t.Run(fmt.Sprintf("%d/%s", n, tt.name), func(t *testing.T) {
					g, c := newInsertGate(t, s, n)
					g.checkInsert(t, c, tt)
				})
			}
		}
	})
}

func (g *shardedGate) checkInsert(t *testing.T, c *sql.Conn, tt insertRow) {
	t.Helper()
	exec(t, c, tt.setup...)
	result, err := c.ExecContext(t.Context(), tt.stmt)
	if errno(err) != tt.errno || err != nil && !strings.Contains(err.Error(), tt.text) {
		t.Fatalf("got %v, want error %d with %q", err, tt.errno, tt.text)
	}
	wantLast := tt.lastInsert
	if err == nil {
		affected, _ := result.RowsAffected()
		id, _ := result.LastInsertId()
		if affected != tt.affected || id != tt.id {
			t.Errorf("%d rows affected, insert id %d; want %d, %d", affected, id, tt.affected, tt.id)
		}
		if wantLast == 0 {
			wantLast = tt.id
		}
	}
	if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != max(wantLast, 0) {
		t.Errorf("LAST_INSERT_ID() is %d, want %d", got, max(wantLast, 0))
	}
	query, vindex := tt.query, tt.vindex
	if query == "" {
		query = userNames
	}
	if vindex == "" {
		vindex = "hash"
	}
	if diff := cmp.Diff(tt.rows, g.rows(t, vindex, query)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if tt.next > 0 {
		exec(t, c, "insert into user(name) values('next')")
		if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != tt.next {
			t.Errorf("the next id is %d, want %d", got, tt.next)
		}
	}
}

// C9: within a transaction the statement alone is undone.
func TestShardedInsertInTransaction(t *testing.T) {
	s := servertest.First(t)
	for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
		t.Run(begin, func(t *testing.T) {
			g, c := newInsertGate(t, s, 2)
			exec(t, g.shards[0], "insert into user(id,name) values(5,'old')")
			exec(t, c, begin, "insert into user(id,name) values(1,'first')")
			_, err := c.ExecContext(t.Context(), "insert into user(id,name) values(6,'a'),(5,'dup'),(7,'b')")
			checkErrno(t, err, 1062)
			exec(t, c, "insert into user(id,name) values(4,'last')", "COMMIT")
			if diff := cmp.Diff([]string{"1/first", "4/last", "5/old"}, g.rows(t, "hash", userNames)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// With transactions that commit in two phases all is the same.
func TestShardedInsertXA(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := newInsertGateWith(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) { cfg.XA = cfg.Keyspaces["main"] }})
		exec(t, c, "insert into user(id,name) values(1,'a'),(4,'b')", "insert into user(name) values('c')")
		_, err := c.ExecContext(t.Context(), "insert into user(id,name) values(2,'x'),(4,'dup'),(6,'y')")
		checkErrno(t, err, 1062)
		exec(t, c, "begin", "insert into user(id,name) values(7,'d')")
		_, err = c.ExecContext(t.Context(), "insert into user(id,name) values(8,'x'),(1,'dup'),(4,'dup'),(9,'y')")
		checkErrno(t, err, 1062)
		exec(t, c, "insert into user(id,name) values(10,'e'),(11,'f')", "commit", "begin", "insert into user(id) values(12),(13),(14),(15)", "rollback")
		if diff := cmp.Diff([]string{"1/a", "10/e", "11/f", "4/b", "5/c", "7/d"}, g.rows(t, "hash", userNames)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// C25: a rollback leaves nothing on any shard, and its ids are used up.
func TestShardedInsertRollback(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 4)
	exec(t, c, "BEGIN", "insert into user(name) values('a'),('b'),('c'),('d')", "ROLLBACK", "insert into user(name) values('e')")
	if diff := cmp.Diff([]string{"5/e"}, g.rows(t, "hash", userNames)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// C14: MySQL's row alias.
func TestShardedInsertRowAlias(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := newInsertGate(t, s, 2)
		_, err := c.ExecContext(t.Context(), "insert into ux(name,n) values('a',1),('b',2),('c',3),('d',4) as new on duplicate key update n=new.n")
		if errno(err) == 1064 {
			t.Skip("this server has no row alias")
		}
		if err != nil {
			t.Fatal(err)
		}
		exec(t, c, "insert into ux(id,n) values(1,7),(4,8) as new on duplicate key update n=new.n+ux.n, id=new.id")
		if diff := cmp.Diff([]string{"1/8", "2/2", "3/3", "4/12"}, g.rows(t, "hash", "SELECT id, n FROM ux")); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// C27: seqgate writes a reference table to all shards, with the same ids.
func TestShardedInsertReference(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 4)
	result, err := c.ExecContext(t.Context(), "insert into ref(v) values('a'),('b')")
	if err != nil {
		t.Fatal(err)
	}
	if affected, _ := result.RowsAffected(); affected != 2 {
		t.Errorf("%d rows affected, want 2", affected)
	}
	if _, err := c.ExecContext(t.Context(), "insert into ref(v) values(uuid())"); errno(err) != 1235 {
		t.Errorf("a value that differs: %v, want 1235", err)
	}
	exec(t, c, "insert into ref(id,v) values(2,'c') on duplicate key update v=concat(v,'')")
	if _, err := c.ExecContext(t.Context(), "insert into ref(id,v) values(2,'c') on duplicate key update v=now()"); errno(err) != 1235 {
		t.Errorf("an update that differs: %v, want 1235", err)
	}
	exec(t, g.shards[2], "insert into ref values(3,'here alone')")
	if _, err := c.ExecContext(t.Context(), "insert into ref(v) values('c')"); errno(err) != 1062 {
		t.Errorf("a row that one shard has: %v, want 1062", err)
	}
	exec(t, g.shards[2], "delete from ref where id = 3")
	for i, db := range g.shards {
		if diff := cmp.Diff([][]string{{"1", "a"}, {"2", "b"}}, textRows(t, db, "SELECT id, v FROM ref ORDER BY id")); diff != "" {
			t.Errorf("shard %d (-want +got):\n%s", i, diff)
		}
	}
}

// A pinned table is on one shard.
func TestShardedInsertPinned(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 2)
	exec(t, c, "insert into pin(v) values('a'),('b')")
	if got := textRows(t, g.shards[1], "SELECT id, v FROM pin ORDER BY id"); len(got) != 2 || got[0][0] != "1" {
		t.Errorf("the shard has %v, want two rows from 1 on", got)
	}
}

// LAST_INSERT_ID() is that of the session, whichever shards ran its statements.
func TestShardedLastInsertID(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 2)
	for i := int64(1); i <= 6; i++ {
		exec(t, c, "insert into user(name,age) values('a',last_insert_id())")
		if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != i {
			t.Errorf("LAST_INSERT_ID() is %d, want %d", got, i)
		}
	}
	exec(t, c, "insert into main.ua(val) values('x')")
	if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != 1 {
		t.Errorf("after the unsharded table LAST_INSERT_ID() is %d, want 1", got)
	}
	exec(t, c, "insert into user(id,age) values(70,last_insert_id()),(71,last_insert_id()),(72,last_insert_id()),(73,last_insert_id())")
	want := []string{"1/0", "2/1", "3/2", "4/3", "5/4", "6/5", "70/1", "71/1", "72/1", "73/1"}
	if diff := cmp.Diff(want, g.rows(t, "hash", "SELECT id, age FROM user")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Whatever ends a statement midway, nothing of it remains on any shard, and the
// session goes on.
func TestShardedInsertFails(t *testing.T) {
	s := servertest.First(t)
	const several = "insert into user(id,name) values(1,'a'),(4,'b'),(2,'c'),(6,'d')"
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, g *shardedGate)
		errno uint16
	}{
		{"table missing on the second shard", func(t *testing.T, g *shardedGate) { exec(t, g.shards[1], "rename table user to gone") }, 1146},
		{"duplicate on the second shard", func(t *testing.T, g *shardedGate) { exec(t, g.shards[1], "insert into user(id) values(6)") }, 1062},
		{"trigger on the second shard", func(t *testing.T, g *shardedGate) {
			exec(t, g.shards[1], "create trigger no before insert on user for each row signal sqlstate '45000' set message_text = 'no'")
		}, 1644},
		{"connection of the second shard killed by the statement", func(t *testing.T, g *shardedGate) {
			exec(t, g.shards[1], "create trigger no before insert on user for each row kill connection_id()")
		}, 1158},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, c := newInsertGate(t, s, 2)
			tt.spoil(t, g)
			_, err := c.ExecContext(t.Context(), several)
			if errno(err) != tt.errno && !(tt.errno == 1158 && (errno(err) == 1317 || errno(err) == 1927)) {
				t.Errorf("got %v, want error %d", err, tt.errno)
			}
			if got := value[int](t, g.shards[0], "SELECT COUNT(*) FROM user"); got != 0 {
				t.Errorf("%d rows remain on the first shard", got)
			}
			exec(t, c, "insert into user(id,name) values(1,'after')")
			if got := value[int](t, g.shards[0], "SELECT COUNT(*) FROM user"); got != 1 {
				t.Errorf("%d rows on the first shard after the next statement, want 1", got)
			}
		})
	}
}

// A server that ends in the middle of a statement ends the transaction on all shards.
func TestShardedInsertLosesTransaction(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 2)
	exec(t, g.shards[1], "create trigger no before insert on user for each row begin if new.id = 6 then kill connection_id(); end if; end")
	exec(t, c, "begin", "insert into user(id) values(1),(4)")
	if _, err := c.ExecContext(t.Context(), "insert into user(id) values(2),(6)"); err == nil {
		t.Error("the statement succeeds")
	}
	if _, err := c.ExecContext(t.Context(), "commit"); err == nil {
		t.Error("the transaction commits")
	}
	eventually(t, func() bool {
		for _, db := range g.shards {
			if value[int](t, db, "SELECT COUNT(*) FROM user") > 0 {
				return false
			}
		}
		return true
	}, "the end of the transaction on all shards")
}

// A deadlock on one shard rolls the transaction back on all.
func TestShardedInsertDeadlock(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 2)
	exec(t, g.shards[1], "insert into user(id) values(6)", "insert into ux(id) values(4)")
	other := conn(t, g.shards[1])
	exec(t, other, "begin", "update user set age = 1 where id = 6")
	for i := range 100 { // the other transaction has done more, and is not the one that is rolled back
		exec(t, other, fmt.Sprintf("insert into child(cid, user_id) values(%d, 4)", i))
	}
	exec(t, c, "begin", "insert into user(id) values(1)", "insert into ux(id, n) values(4, 9) on duplicate key update n = 9")
	failed := make(chan error, 1)
	go func() {
		_, err := c.ExecContext(t.Context(), "insert into user(id) values(2),(6) on duplicate key update age=5")
		failed <- err
	}()
	// Whichever of the two waits first, the other one closes the circle.
	exec(t, other, "update ux set n = 2 where id = 4")
	if err := <-failed; errno(err) != 1213 {
		t.Fatalf("got %v, want a deadlock", err)
	}
	exec(t, c, "commit")
	if got := value[int](t, g.shards[0], "SELECT COUNT(*) FROM user"); got != 0 {
		t.Errorf("%d rows remain on the first shard", got)
	}
	exec(t, other, "rollback")
}

// C30: ids of many sessions are distinct over all shards, those of one statement
// contiguous, and the ids of a session increase.
func TestShardedInsertConcurrently(t *testing.T) {
	g, _ := newInsertGate(t, servertest.First(t), 4)
	const sessions, statements = 8, 30
	var wait sync.WaitGroup
	want := 0
	for i := range sessions {
		rows := 1 + i%3*4
		want += rows * statements
		c := conn(t, g.open(t, "customer", ""))
		wait.Go(func() {
			last := int64(0)
			for n := range statements {
				text := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("('%d.%d'),", i, n), rows), ",")
				result, err := c.ExecContext(t.Context(), "insert into user(name) values"+text)
				if err != nil {
					t.Error(err)
					return
				}
				id, _ := result.LastInsertId()
				if id <= last {
					t.Errorf("session %d got %d after %d", i, id, last)
				}
				last = id + int64(rows) - 1
			}
		})
	}
	wait.Wait()
	if got := len(g.rows(t, "hash", "SELECT id FROM user")); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	blocks := map[string][]int{}
	for _, db := range g.shards {
		for _, row := range textRows(t, db, "SELECT name, id FROM user") {
			id, err := strconv.Atoi(row[1])
			if err != nil {
				t.Fatal(err)
			}
			blocks[row[0]] = append(blocks[row[0]], id)
		}
	}
	for name, ids := range blocks {
		if low, high := slices.Min(ids), slices.Max(ids); high-low+1 != len(ids) {
			t.Errorf("statement %s has %d ids from %d to %d", name, len(ids), low, high)
		}
	}
}

// answer is what an OK packet says.
type answer struct {
	affected, id uint64
	warnings     uint16
	info         string
	err          string
	row          string // that has a new insert id
}

// rawExec runs a statement and gives all that its OK packet says.
func rawExec(t testing.TB, c *client.Conn, query string) (a answer) {
	t.Helper()
	c.ResetSequence()
	if err := c.WritePacket(append([]byte{0, 0, 0, 0, protocol.COM_QUERY}, query...)); err != nil {
		t.Fatal(err)
	}
	p, err := c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	if p[0] != protocol.OK_HEADER {
		return answer{err: fmt.Sprintf("%d", binary.LittleEndian.Uint16(p[1:]))}
	}
	p = p[1:]
	var n int
	a.affected, _, n = protocol.LengthEncodedInt(p)
	p = p[n:]
	a.id, _, n = protocol.LengthEncodedInt(p)
	p = p[n:]
	a.warnings = binary.LittleEndian.Uint16(p[2:])
	a.info = string(p[4:])
	return a
}

// What a client is told of random statements of several rows is what one server with
// AUTO_INCREMENT tells: of new ids, that they are those of the same rows.
func TestShardedInsertAnswers(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, n := range []int{2, 4} {
			t.Run(fmt.Sprint(n), func(t *testing.T) { compareAnswers(t, s, n) })
		}
	})
}

// firstNew is the first new id in compareAnswers.
const firstNew = 1000

func compareAnswers(t *testing.T, s *servertest.Server, n int) {
	g, _ := newInsertGate(t, s, n)
	database := s.NewDatabase(t)
	native := s.Open(t, database)
	exec(t, native, fmt.Sprintf("CREATE TABLE user (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64), age INT) AUTO_INCREMENT = %d", firstNew))
	exec(t, g.direct, fmt.Sprintf("UPDATE user_seq SET next_id = %d", firstNew))
	direct, err := mysql.ParseDSN(s.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	one, err := client.Connect(direct.Addr, direct.User, direct.Passwd, database)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	routed, err := client.Connect(g.addr, gateUser, gatePassword, "customer")
	if err != nil {
		t.Fatal(err)
	}
	defer routed.Close()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range 200 {
		query := randomInsert(random, i)
		want, got := rawExec(t, one, query), rawExec(t, routed, query)
		want.nameNew(t, native)
		got.nameNew(t, g.shards...)
		if strings.Contains(query, "DUPLICATE") && !strings.Contains(query, "NULL") && !strings.Contains(query, "(0") {
			want.id, got.id = 0, 0 // of several own ids seqgate does not know which one was written last
		}
		if want != got {
			t.Fatalf("statement %d, %s:\none server %+v\n%d shards %+v", i, query, want, n, got)
		}
	}
	g.rows(t, "hash", "SELECT id FROM user")
	if diff := cmp.Diff(inOrder(t, native), inOrder(t, g.shards...)); diff != "" {
		t.Errorf("rows (-one server +%d shards):\n%s", n, diff)
	}
}

// nameNew puts a new row in the place of its id.
func (a *answer) nameNew(t *testing.T, dbs ...*sql.DB) {
	t.Helper()
	if a.id < firstNew {
		return
	}
	for _, db := range dbs {
		for _, row := range textRows(t, db, fmt.Sprintf("SELECT name, age FROM user WHERE id = %d", a.id)) {
			a.id, a.row = 0, strings.Join(row, "/")
		}
	}
}

// inOrder gives all rows in the order of their ids, with those below firstNew.
func inOrder(t *testing.T, dbs ...*sql.DB) []string {
	t.Helper()
	var all [][]string
	for _, db := range dbs {
		all = append(all, textRows(t, db, fmt.Sprintf("SELECT LPAD(id, 20, '0'), IF(id < %d, id, 'new'), name, age FROM user", firstNew))...)
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	rows := make([]string, len(all))
	for i, row := range all {
		rows[i] = strings.Join(row[1:], "/")
	}
	return rows
}

// randomInsert makes a statement of up to five rows with new ids, ids of their own, and
// ids of rows that are there.
func randomInsert(random *rand.Rand, i int) string {
	verbs := []string{"INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO", "INSERT INTO"}
	verb := random.IntN(len(verbs))
	var rows []string
	for row := range 1 + random.IntN(5) {
		id := "NULL"
		switch random.IntN(4) {
		case 0:
			id = fmt.Sprint(1 + random.IntN(60))
		case 1:
			id = "0"
		}
		rows = append(rows, fmt.Sprintf("(%s, 'n%d.%d', %d)", id, i, row, random.IntN(9)))
	}
	query := verbs[verb] + " user (id, name, age) VALUES " + strings.Join(rows, ", ")
	if verb == 4 {
		query += " ON DUPLICATE KEY UPDATE age = VALUES(age)"
	}
	return query
}

// A reference table gets the same rows in each shard: a client is told of them once.
func TestReferenceInsertAnswer(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	routed, err := client.Connect(g.addr, gateUser, gatePassword, "customer")
	if err != nil {
		t.Fatal(err)
	}
	defer routed.Close()
	got := rawExec(t, routed, "INSERT INTO ref (id, v) VALUES (1, 'a'), (2, 'b')")
	want := answer{affected: 2, info: "Records: 2  Duplicates: 0  Warnings: 0"}
	if !strings.HasSuffix(got.info, want.info) || got.affected != want.affected {
		t.Errorf("%d rows, %q; want %d, %q", got.affected, got.info, want.affected, want.info)
	}
}

// A RETURNING that is refused uses up no ids.
func TestShardedInsertReturningKeepsIDs(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		if !strings.Contains(value[string](t, g.direct, "SELECT VERSION()"), "MariaDB") {
			t.Skip("this server has no RETURNING")
		}
		exec(t, c, "INSERT INTO user (name) VALUES ('first')")
		last := value[int64](t, c, "SELECT LAST_INSERT_ID()")
		for _, refused := range []string{"INSERT INTO user (name) VALUES ('a'), ('b') RETURNING id", "INSERT INTO child (user_id) VALUES (1), (4) RETURNING cid", "INSERT INTO ref (id) VALUES (1) RETURNING id"} {
			_, err := c.ExecContext(t.Context(), refused)
			if errno(err) != 1235 {
				t.Errorf("%s: %v, want 1235", refused, err)
			}
		}
		exec(t, c, "INSERT INTO user (name) VALUES ('second')")
		if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != last+1 {
			t.Errorf("id %d after %d", got, last)
		}
		if got := value[int64](t, c, "INSERT INTO user (name) VALUES ('a') RETURNING id"); got != last+2 {
			t.Errorf("RETURNING gives %d, want %d", got, last+2)
		}
		if got := textRows(t, g.shards[0], "SELECT COUNT(*) FROM child"); got[0][0] != "0" {
			t.Errorf("%v rows of a refused statement", got)
		}
		exec(t, c, "INSERT INTO child (user_id) VALUES (1), (1)")
		if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != 1 {
			t.Errorf("id of child %d, want 1", got)
		}
	})
}
