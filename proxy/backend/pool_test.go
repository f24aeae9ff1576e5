package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// newPool is a pool of connections to b, closed at the end of the test.
func newPool(tb testing.TB, b *Backend) *Pool {
	tb.Helper()
	p := &Pool{Backend: b, MaxIdle: 8}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// get takes a connection out of the pool.
func get(tb testing.TB, p *Pool, login Login) *rawClient {
	tb.Helper()
	c, err := p.Get(context.Background(), login)
	if err != nil {
		tb.Fatal(err)
	}
	return newRaw(tb, c)
}

// put returns a connection and waits for its reset.
func put(p *Pool, r *rawClient) {
	r.tb.Helper()
	p.Put(r.done())
	p.resets.Wait()
}

// limitResets has resets in this test take a second at most, as they do outside of tests.
func limitResets(t *testing.T) {
	resetTimeout = time.Second
	t.Cleanup(func() { resetTimeout = patience })
}

// await waits until a condition holds.
func await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("waited in vain: %s", what)
		}
	}
}

// dirt is what a session leaves behind.
type dirt struct {
	name    string // the statements themselves when ""
	sql     []string
	raw     func(r *rawClient) // commands that are no statements
	only    string             // "mariadb" or "mysql"; both when ""
	dropped string             // the server on which such a connection is not handed on: "mariadb", "mysql" or "both"
}

func of(sql ...string) dirt { return dirt{sql: sql} }

func (d dirt) on(only string) dirt { d.only = only; return d }

func (d dirt) dropsOn(server string) dirt { d.dropped = server; return d }

func (d dirt) title() string {
	if d.name != "" {
		return d.name
	}
	return strings.Join(d.sql, "; ")
}

// dirts are made in a database with an InnoDB table t, a procedure rows and, on MariaDB, a
// sequence sq, by an account with the roles one and two.
var dirts = []dirt{
	of("SELECT 1"),
	of("BEGIN", "INSERT INTO t VALUES (NULL)"),
	of("BEGIN", "SAVEPOINT a", "INSERT INTO t VALUES (NULL)"),
	of("SET completion_type = CHAIN", "BEGIN", "INSERT INTO t VALUES (NULL)"),
	of("SET completion_type = 2", "BEGIN", "INSERT INTO t VALUES (NULL)"), // RELEASE
	of("START TRANSACTION READ ONLY"),
	of("SET autocommit = 0"),
	of("SET autocommit = 0", "INSERT INTO t VALUES (NULL)"),
	of("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY"),
	of("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
	of("SET TRANSACTION READ ONLY"),
	of("XA START '{x}1'").dropsOn("both"),
	of("XA START '{x}2'", "INSERT INTO t VALUES (NULL)", "XA END '{x}2'").dropsOn("both"),
	of("XA START '{x}3'", "INSERT INTO t VALUES (NULL)", "XA END '{x}3'", "XA PREPARE '{x}3'").dropsOn("mariadb"),
	of("SELECT GET_LOCK(CONCAT(DATABASE(), '_l'), 0)"),
	of("LOCK TABLES t WRITE"),
	of("LOCK TABLES t READ", "SET autocommit = 0"),
	of("FLUSH TABLES t WITH READ LOCK"),
	of("LOCK INSTANCE FOR BACKUP").on("mysql"),
	of("BACKUP LOCK t").on("mariadb"),
	of("HANDLER t OPEN"),
	of("CREATE TEMPORARY TABLE tmp (a INT)"),
	of("SET @a = 1, @b = 'x'"),
	of("PREPARE s FROM 'SELECT 1'"),
	of("INSERT INTO t VALUES (NULL)"),
	of("SET last_insert_id = 77, insert_id = 78"),
	of("SELECT LAST_INSERT_ID(5)"),
	of("SELECT NEXTVAL(sq)").on("mariadb"),
	of("SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 UNION SELECT 3 LIMIT 1"),
	of("DELETE FROM t WHERE id < 0"),
	of("SELECT 1/0", "SELECT CAST('a' AS SIGNED)"),
	of("SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'a warning'"),
	of("USE information_schema"),
	of("SET NAMES latin1"),
	of("SET NAMES utf8mb4 COLLATE utf8mb4_bin"),
	of("SET CHARACTER SET latin1"),
	of("SET sql_mode = ''"),
	of("SET sql_mode = 'ANSI,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'"),
	of("SET sql_mode = 'ORACLE'").on("mariadb"),
	of("SET sql_select_limit = 0"),
	of("SET sql_select_limit = 0", "USE information_schema"),
	of("SET ROLE {one}").dropsOn("mariadb"),
	of("SET ROLE ALL").on("mysql"),
	of("SET ROLE NONE"),
	of("SET sql_select_limit = 0", "SET ROLE {one}").dropsOn("mariadb"),
	of("SET profiling = 1", "SELECT 5"),
	of("SET profiling = 1", "SELECT 5", "SET profiling = 0"),
	of("SET optimizer_trace = 'enabled=on'", "SELECT * FROM t"),
	of("SET timestamp = 1, rand_seed1 = 5, rand_seed2 = 6"),
	of("SET pseudo_thread_id = 5"),
	of("SET foreign_key_checks = 0, unique_checks = 0, sql_safe_updates = 1, sql_big_selects = 0, sql_auto_is_null = 1, big_tables = 1"),
	of("SET sql_log_bin = 0"),
	of("SET auto_increment_increment = 7, auto_increment_offset = 3, div_precision_increment = 9, group_concat_max_len = 9"),
	of("SET time_zone = '+03:00', lc_time_names = 'de_DE', lc_messages = 'de_DE'"),
	of("SET wait_timeout = 5, interactive_timeout = 6, net_read_timeout = 7, net_write_timeout = 8, lock_wait_timeout = 9"),
	of("SET session_track_system_variables = '*', session_track_schema = 0, session_track_state_change = 1, session_track_transaction_info = 'STATE'"),
	of("SET session_track_gtids = 'ALL_GTIDS'").on("mysql"),
	of("SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1'").on("mysql"),
	of("SET max_execution_time = 900").on("mysql"),
	of("SET max_statement_time = 9").on("mariadb"),
	of("SET gtid_domain_id = 5, gtid_seq_no = 500000, server_id = 9, skip_replication = 1").on("mariadb"),
	of("SET system_versioning_asof = '2020-01-01'").on("mariadb"),
	of("SET default_master_connection = 'x'").on("mariadb"),
	{name: "prepared statements", raw: func(r *rawClient) { r.prepare("SELECT ?"); r.prepare("SELECT 2") }},
	{name: "an open cursor and a long parameter", raw: func(r *rawClient) {
		id := r.prepare("SELECT * FROM t WHERE id > ?")
		r.send(mysql.COM_STMT_SEND_LONG_DATA, id+"\x00\x0012")
		id = r.prepare("SELECT 1 UNION SELECT 2")
		r.send(mysql.COM_STMT_EXECUTE, id+"\x01\x01\x00\x00\x00")
		r.packet()
		r.packet()
		for p := r.packet(); p[0] != mysql.EOF_HEADER; p = r.packet() {
			r.tb.Errorf("the cursor's answer has the packet %x", p)
		}
	}},
	{name: "no several statements", raw: func(r *rawClient) { r.command(mysql.COM_SET_OPTION, "\x01\x00") }},
	{name: "COM_INIT_DB", raw: func(r *rawClient) { r.command(mysql.COM_INIT_DB, "information_schema") }},
	{name: "nothing", raw: func(*rawClient) {}},
}

// prepare prepares a statement and gives its id.
func (r *rawClient) prepare(sql string) string {
	r.tb.Helper()
	p := r.command(mysql.COM_STMT_PREPARE, sql)
	if p[0] != mysql.OK_HEADER {
		r.tb.Fatalf("prepare %s: %v", sql, (&handshake.Refused{Packet: p}).MySQL())
	}
	for range int(p[5]) + int(p[7]) { // columns and parameters
		r.packet()
	}
	return string(p[1:5])
}

// questions ask for everything that a session can see of itself. What one of them changes, those behind it see on all
// connections alike.
var questions = []string{
	foundRows,
	"SELECT ROW_COUNT(), LAST_INSERT_ID(), @@last_insert_id, @@insert_id, @@warning_count, @@error_count, DATABASE()",
	"SHOW WARNINGS",
	"SELECT USER(), CURRENT_USER(), CURRENT_ROLE()",
	"SHOW SESSION VARIABLES",
	"SELECT * FROM performance_schema.session_variables",
	"SELECT VARIABLE_NAME FROM performance_schema.user_variables_by_thread v " +
		"JOIN performance_schema.threads t USING (THREAD_ID) WHERE t.PROCESSLIST_ID = CONNECTION_ID()",
	"SELECT VARIABLE_NAME FROM information_schema.user_variables",
	"SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_TYPE FROM performance_schema.metadata_locks l " +
		"JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID WHERE t.PROCESSLIST_ID = CONNECTION_ID() " +
		"AND OBJECT_NAME NOT IN ('metadata_locks', 'threads')",
	"SELECT STATEMENT_NAME FROM performance_schema.prepared_statements_instances p " +
		"JOIN performance_schema.threads t ON t.THREAD_ID = p.OWNER_THREAD_ID WHERE t.PROCESSLIST_ID = CONNECTION_ID()",
	"SELECT ATTR_NAME, ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() " +
		"ORDER BY ATTR_NAME",
	"SELECT PROCESSLIST_USER, PROCESSLIST_DB, PROCESSLIST_COMMAND, INSTRUMENTED, HISTORY, CONNECTION_TYPE " +
		"FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
	"SELECT * FROM information_schema.enabled_roles",
	"SELECT IS_FREE_LOCK(CONCAT(DATABASE(), '_l'))",
	"SHOW PROFILES",
	"SELECT QUERY FROM information_schema.optimizer_trace",
	"SELECT trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = CONNECTION_ID()",
	"SELECT @@in_transaction",
	"SELECT @@timestamp > 1000000, @@pseudo_thread_id = CONNECTION_ID()",
	"SELECT LASTVAL(sq)",
	"SELECT * FROM tmp",
	"HANDLER t READ FIRST",
	"EXECUTE s",
	"SELECT 1; SELECT 2",
	"SELECT 'ä', CHARSET('ä'), COLLATION('ä'), COLLATION(CONVERT(1, CHAR))",
	"INSERT INTO t2 VALUES ('0000-00-00')",
	"BEGIN; INSERT INTO t VALUES (NULL); ROLLBACK",
	"CALL rows_()",
}

// foundRows is not asked of MariaDB: there a login may inherit it from one before, with the server's thread.
const foundRows = "SELECT FOUND_ROWS()"

// volatile are variables that differ from one login to the next, or that other tests change: their lines are left out.
var volatile = regexp.MustCompile(`^(rand_seed[12]|timestamp|statement_id|pseudo_thread_id|local_infile|gtid_(binlog_pos|current_pos|executed|binlog_state))\t`)

// look answers the questions, with an error's text where one is no statement or is refused.
func look(r *rawClient) []string {
	r.tb.Helper()
	seen := []string{fmt.Sprintf("status %#x", r.c.Status)}
	for _, q := range questions {
		if q == foundRows && r.c.isMariaDB() {
			continue
		}
		rows, err := r.try(q)
		if err != nil {
			rows = []string{err.Error()}
		}
		for _, row := range rows {
			if !volatile.MatchString(row) {
				seen = append(seen, q+": "+row)
			}
		}
	}
	return seen
}

// account makes an account with all privileges and two roles, and a database for it.
func account(t *testing.T, s *servertest.Server) (login Login, role string) {
	t.Helper()
	database := s.NewDatabase(t)
	admin := s.Open(t, database)
	user, one, two := database, database+"_1", database+"_2"
	exec := func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			if _, err := admin.Exec(sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	exec("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)", "CREATE TABLE t2 (d DATE NOT NULL)", "INSERT INTO t VALUES (NULL)",
		"CREATE PROCEDURE rows_() SELECT COUNT(*) FROM t2", "CREATE USER "+user+" IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO "+user,
		"CREATE ROLE "+one, "CREATE ROLE "+two, "GRANT "+one+" TO "+user, "GRANT "+two+" TO "+user)
	if s.IsMariaDB() {
		exec("CREATE SEQUENCE sq")
	}
	t.Cleanup(func() { exec("DROP ROLE "+one, "DROP ROLE "+two, "DROP USER "+user) })
	login = newLogin(s, database)
	login.User, login.Password = user, "secret"
	return login, one
}

// A session that takes over another's connection sees what a fresh one sees.
func TestPoolHandsOnAsNew(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		login, role := account(t, s)
		names := strings.NewReplacer("{one}", role, "{x}", login.Database)
		server := "mysql"
		if s.IsMariaDB() {
			server = "mariadb"
		}
		b := newBackend(s)
		b.TLS = TLSPreferred // for caching_sha2_password
		fresh := dial(t, b, login)
		want := look(fresh)
		for _, d := range dirts {
			if d.only != "" && d.only != server {
				continue
			}
			t.Run(d.title(), func(t *testing.T) {
				p := newPool(t, b)
				r := get(t, p, login)
				id := r.c.ThreadID
				for _, sql := range d.sql {
					r.query(names.Replace(sql))
				}
				if d.raw != nil {
					d.raw(r)
				}
				put(p, r)
				if strings.Contains(d.title(), "XA PREPARE") {
					other := dial(t, b, login) // it becomes nobody's, and locks t
					// MariaDB's InnoDB lets go of it after the server has: an XA ROLLBACK in between says OK and leaves it locked.
					await(t, "InnoDB lets go", func() bool {
						return !strings.Contains(other.value("SHOW ENGINE INNODB STATUS"), fmt.Sprintf(" thread id %d,", id))
					})
					await(t, "XA ROLLBACK", func() bool { _, err := other.try(names.Replace("XA ROLLBACK '{x}3'")); return err == nil })
				}
				r = get(t, p, login)
				dropped := d.dropped == "both" || d.dropped == server
				if handedOn := r.c.ThreadID == id; handedOn == dropped {
					t.Errorf("handed on: %t, want %t", handedOn, !dropped)
				}
				if diff := cmp.Diff(want, look(r)); diff != "" {
					t.Errorf("a fresh session sees (-), the next one of this connection (+):\n%s", diff)
				}
			})
		}
	})
}

// The collation of the login comes back, whatever was chosen in between.
func TestPoolCollations(t *testing.T) {
	collations := []uint8{0, 8, 47, 33, 83, 224, 46, 63, 28, 65, 248, utf8mb40900} // latin1, utf8mb3, utf8mb4, binary, gbk, ascii, gb18030; 0 is none
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		login, _ := account(t, s)
		b := newBackend(s)
		b.TLS = TLSPreferred
		p := newPool(t, b)
		for _, database := range []string{login.Database, ""} {
			for _, collation := range collations {
				t.Run(fmt.Sprint(collation, " ", database), func(t *testing.T) {
					login := login
					login.Charset, login.Database = collation, database
					want := look(dial(t, b, login))
					r := get(t, p, login)
					id := r.c.ThreadID
					r.query("SET NAMES cp1251")
					put(p, r)
					r = get(t, p, login)
					known := collation != 0 && (collation != 248 || !s.IsMariaDB())
					if handedOn := r.c.ThreadID == id; handedOn != known {
						t.Errorf("handed on: %t, want %t", handedOn, known)
					}
					if diff := cmp.Diff(want, look(r)); diff != "" {
						t.Errorf("a fresh session sees (-), the next one of this connection (+):\n%s", diff)
					}
				})
			}
		}
	})
}

// An interactive client has a wait_timeout of its own.
func TestPoolInteractive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		login := newLogin(s, "mysql")
		login.Capabilities |= uint64(mysql.CLIENT_INTERACTIVE)
		r := get(t, p, login)
		want := r.value("SELECT @@interactive_timeout")
		r.query("SET wait_timeout = 5, interactive_timeout = 6")
		put(p, r)
		again := get(t, p, login)
		if again.c.ThreadID != r.c.ThreadID {
			t.Error("the connection is not handed on")
		}
		if got := again.value("SELECT @@wait_timeout"); got != want {
			t.Errorf("wait_timeout is %s, want %s", got, want)
		}
	})
}

// The connection returned last is handed on first, to the same login only.
func TestPoolOrder(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b := newBackend(s)
		p := newPool(t, b)
		login := newLogin(s, "information_schema")
		var ids []uint32
		var all []*rawClient
		for range 3 {
			all = append(all, get(t, p, login))
			ids = append(ids, all[len(all)-1].c.ThreadID)
		}
		for _, r := range all {
			put(p, r)
		}
		others := []func(*Login){
			func(l *Login) { l.Capabilities |= uint64(mysql.CLIENT_FOUND_ROWS) },
			func(l *Login) { l.Charset = 8 },
			func(l *Login) { l.Attributes = []byte("\x01a\x01b") },
			func(l *Login) { l.Encrypted = true },
			func(l *Login) { l.Database = "" },
			func(l *Login) { l.Database = "mysql" },
		}
		for i, change := range others {
			other := login
			change(&other)
			if id := get(t, p, other).c.ThreadID; slices.Contains(ids, id) {
				t.Errorf("the other login %d gets the connection of this one", i)
			}
		}
		for _, want := range slices.Backward(ids) {
			r := get(t, p, login)
			if r.c.ThreadID != want {
				t.Errorf("got connection %d, want %d of %d", r.c.ThreadID, want, ids)
			}
		}
	})
}

// idleIDs are the ids of the idle connections.
func idleIDs(p *Pool) []uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := []uint32{}
	for _, c := range p.idle {
		ids = append(ids, c.ThreadID)
	}
	return ids
}

func TestPoolLimits(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		p.MaxIdle = 2
		var all []*rawClient
		for i := range 3 {
			login := newLogin(s, "")
			login.Attributes = []byte{1, 'n', 1, '0' + byte(i)}
			all = append(all, get(t, p, login))
		}
		for _, r := range all {
			put(p, r)
		}
		want := []uint32{all[1].c.ThreadID, all[2].c.ThreadID}
		if diff := cmp.Diff(want, idleIDs(p)); diff != "" {
			t.Errorf("idle (-want +got):\n%s", diff)
		}
		p.MaxAge = time.Nanosecond
		put(p, get(t, p, all[1].c.login))
		if diff := cmp.Diff(want[1:], idleIDs(p)); diff != "" {
			t.Errorf("idle after the return of one that is too old (-want +got):\n%s", diff)
		}
		p.MaxAge, p.IdleTimeout = time.Hour, 10*time.Millisecond
		put(p, get(t, p, all[2].c.login))
		await(t, "the idle connection ends", func() bool { return len(idleIDs(p)) == 0 })
		r := get(t, p, newLogin(s, ""))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		put(p, r)
		if got := idleIDs(p); len(got) != 0 {
			t.Errorf("a closed pool keeps %d", got)
		}
	})
}

// A connection without a database is not handed on with one.
func TestPoolWithoutDatabase(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		r := get(t, p, newLogin(s, ""))
		put(p, r)
		if diff := cmp.Diff([]uint32{r.c.ThreadID}, idleIDs(p)); diff != "" {
			t.Errorf("idle (-want +got):\n%s", diff)
		}
		r = get(t, p, newLogin(s, ""))
		r.query("SET sql_select_limit = 0")
		r.query("USE information_schema")
		put(p, r)
		if got := idleIDs(p); len(got) != 0 {
			t.Errorf("idle with a database: %d", got)
		}
	})
}

// A database that was dropped is refused as at a login, and one that was made anew has its own collation.
func TestPoolDatabaseChanged(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		database := s.NewDatabase(t)
		admin := s.Open(t, "")
		login := newLogin(s, database)
		put(p, get(t, p, login))
		for _, sql := range []string{"DROP DATABASE " + database, "CREATE DATABASE " + database + " CHARACTER SET latin1 COLLATE latin1_bin"} {
			if _, err := admin.Exec(sql); err != nil {
				t.Fatal(err)
			}
		}
		r := get(t, p, login)
		if got := r.value("SELECT @@collation_database"); got != "latin1_bin" {
			t.Errorf("the collation is %s, want latin1_bin", got)
		}
		put(p, r)
		if _, err := admin.Exec("DROP DATABASE " + database); err != nil {
			t.Fatal(err)
		}
		var refused *mysql.MyError
		if _, err := p.Get(context.Background(), login); !errors.As(err, &refused) || refused.Code != mysql.ER_BAD_DB_ERROR {
			t.Errorf("the dropped database gives %v, want error %d", err, mysql.ER_BAD_DB_ERROR)
		}
		if _, err := admin.Exec("CREATE DATABASE " + database); err != nil { // for the test's end
			t.Fatal(err)
		}
	})
}

// When an idle connection is killed, with or without TLS, the next session gets another one.
func TestPoolKilled(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, mode := range map[string]TLSMode{"plain": TLSDisabled, "TLS": TLSPreferred} {
			t.Run(name, func(t *testing.T) {
				b := newBackend(s)
				b.TLS = mode
				p := newPool(t, b)
				r := get(t, p, newLogin(s, ""))
				if _, encrypted := r.c.Conn.(*tls.Conn); mode != TLSDisabled && !encrypted {
					t.Skip("the server has no TLS")
				}
				put(p, r)
				again := get(t, p, newLogin(s, ""))
				if again.c.ThreadID != r.c.ThreadID {
					t.Errorf("got connection %d, want %d", again.c.ThreadID, r.c.ThreadID)
				}
				put(p, again)
				dial(t, b, newLogin(s, "")).query(fmt.Sprintf("KILL %d", r.c.ThreadID))
				await(t, "the idle connection is found dead", func() bool { return !r.c.quiet() })
				other := get(t, p, newLogin(s, ""))
				if other.c.ThreadID == r.c.ThreadID {
					t.Error("the killed connection is handed on")
				}
				other.query("DO 1")
			})
		}
	})
}

func TestPoolServerRestarted(t *testing.T) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		for _, r := range []*rawClient{get(t, p, newLogin(s, "mysql")), get(t, p, newLogin(s, "mysql"))} {
			put(p, r)
		}
		s.Kill(t)
		_, err := p.Get(context.Background(), newLogin(s, "mysql"))
		var lost *ConnectError
		if !errors.As(err, &lost) {
			t.Errorf("without a server: %v, want a ConnectError", err)
		}
		s.Start(t)
		get(t, p, newLogin(s, "mysql")).query("DO 1")
		if got := idleIDs(p); len(got) != 0 {
			t.Errorf("dead connections stay: %d", got)
		}
	})
}

// A connection that a frozen server does not reset is closed, and nobody waits for it.
func TestPoolServerFrozen(t *testing.T) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		limitResets(t)
		p := newPool(t, newBackend(s))
		kept, r := get(t, p, newLogin(s, "")), get(t, p, newLogin(s, ""))
		put(p, kept)
		s.Freeze(t)
		c := r.done()
		p.Put(c)
		got := get(t, p, newLogin(s, "")) // does not wait for the other one
		if got.c.ThreadID != kept.c.ThreadID {
			t.Errorf("got connection %d, want %d", got.c.ThreadID, kept.c.ThreadID)
		}
		p.resets.Wait()
		if _, err := c.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write to it: %v, want %v", err, net.ErrClosed)
		}
		s.Thaw(t)
	})
}

// Many sessions come and go at once: none sees another's variable.
func TestPoolConcurrent(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				for range 20 {
					c, err := p.Get(context.Background(), newLogin(s, "mysql"))
					if err != nil {
						t.Error(err)
						return
					}
					r := &rawClient{t, c}
					if rows, err := r.try("SELECT @mine"); err != nil || rows[0] != "NULL" {
						t.Errorf("@mine is %q, %v", rows, err)
					}
					if _, err := r.try(fmt.Sprintf("SET @mine = %d", i)); err != nil {
						t.Error(err)
					}
					p.Put(c)
				}
			})
		}
		clients.Wait()
	})
}

// Answers that are not the server's to give end the connection.
func TestPoolBadAnswers(t *testing.T) {
	const ok = "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
	good := strings.Repeat(ok, 6)
	tests := []struct {
		name, answers string
		keeps         bool
	}{
		{"good", good, true},
		{"no COM_RESET_CONNECTION", strings.Repeat(ok, 5) + "\x10\x00\x00\x01\xff\x17\x04#08S01Unknown", false},
		{"an error without a state", "\x03\x00\x00\x01\xff\x17\x04" + good, false},
		{"an error cut short", "\x01\x00\x00\x01\xff" + good, false},
		{"the connection is found unclean", strings.Repeat(ok, 2) + "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00" + strings.Repeat(ok, 3), false},
		{"an OK too short", "\x01\x00\x00\x01\x00" + good, false},
		{"an OK cut in a number", "\x02\x00\x00\x01\x00\xfe" + good, false},
		{"an OK without a status", "\x03\x00\x00\x01\x00\x00\x00" + good, false},
		{"an empty packet", "\x00\x00\x00\x01" + good, false},
		{"a large packet", "\xff\xff\xff\x01" + good, false},
		{"rows", "\x01\x00\x00\x01\x01" + good, false},
		{"one answer too many", good + ok, false},
		{"an end", good[:len(good)-4], false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !test.keeps {
				limitResets(t) // one waits for more
			}
			ours, theirs := net.Pipe()
			defer theirs.Close()
			go func() {
				_, _ = theirs.Read(make([]byte, 4096)) // the commands come in one write
				_, _ = io.WriteString(theirs, test.answers)
				_, _ = io.Copy(io.Discard, theirs)
			}()
			p := &Pool{MaxIdle: 1}
			c := &Conn{Conn: ours, Greeting: handshake.Greeting{Version: "10.11.0-MariaDB"}, login: Login{Charset: utf8mb4}, key: "k", since: time.Now()}
			p.Put(c)
			p.resets.Wait()
			if kept := len(idleIDs(p)) == 1; kept != test.keeps {
				t.Errorf("kept: %t, want %t", kept, test.keeps)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A connection that was only pinged is kept without a reset.
func TestPoolUnused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPool(t, newBackend(s))
		p.MaxIdle = 1
		a, b := get(t, p, newLogin(s, "mysql")), get(t, p, newLogin(s, "mysql"))
		a.command(mysql.COM_PING, "")
		p.PutUnused(a.done())
		p.PutUnused(b.done())
		if diff := cmp.Diff([]uint32{b.c.ThreadID}, idleIDs(p)); diff != "" {
			t.Errorf("idle (-want +got):\n%s", diff)
		}
		if r := get(t, p, newLogin(s, "mysql")); r.c.ThreadID != b.c.ThreadID {
			t.Errorf("got connection %d, want %d", r.c.ThreadID, b.c.ThreadID)
		}
		p.PutUnused(b.done())
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if _, err := b.c.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write to a connection of a closed pool: %v, want %v", err, net.ErrClosed)
		}
	})
}

func BenchmarkConnect(b *testing.B) {
	server := servertest.First(b)
	login := newLogin(server, "mysql")
	ping := func(b *testing.B, c *Conn) {
		b.Helper()
		(&rawClient{b, c}).command(mysql.COM_PING, "")
	}
	b.Run("Dial", func(b *testing.B) {
		backend := newBackend(server)
		b.ReportAllocs()
		for b.Loop() {
			c, err := backend.Dial(context.Background(), login)
			if err != nil {
				b.Fatal(err)
			}
			ping(b, c)
			if err := c.Quit(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, put := range map[string]func(*Pool, *Conn){"Put": (*Pool).Put, "PutUnused": (*Pool).PutUnused} {
		b.Run(name, func(b *testing.B) {
			p := newPool(b, newBackend(server))
			b.ReportAllocs()
			for b.Loop() {
				c, err := p.Get(context.Background(), login)
				if err != nil {
					b.Fatal(err)
				}
				ping(b, c)
				put(p, c)
			}
		})
	}
}
