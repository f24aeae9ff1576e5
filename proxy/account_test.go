package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// accounts makes accounts at the server of a test: for users who read and who write, and one for seqgate itself, none of
// which sees or ends the threads of others.
type accounts struct {
	t               testing.TB
	server          *servertest.Server
	root            *sql.DB
	read, write, by string
}

const accountPassword = "of the account"

func newAccounts(t testing.TB, s *servertest.Server) *accounts {
	t.Helper()
	suffix := fmt.Sprintf("_%x", time.Now().UnixNano())
	a := &accounts{t: t, server: s, root: s.Open(t, ""), read: "r" + suffix, write: "w" + suffix, by: "o" + suffix}
	for _, name := range []string{a.read, a.write, a.by} {
		exec(t, a.root, fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED BY '%s'", name, accountPassword))
		t.Cleanup(func() {
			if _, err := a.root.Exec(fmt.Sprintf("DROP USER %s@'%%'", name)); err != nil {
				t.Error(err)
			}
		})
	}
	return a
}

func (a *accounts) grant(privileges, on, to string) {
	a.t.Helper()
	exec(a.t, a.root, fmt.Sprintf("GRANT %s ON %s TO %s@'%%'", privileges, on, to))
}

// of opens connections of an account.
func (a *accounts) of(name, database string) *sql.DB {
	a.t.Helper()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName, cfg.InterpolateParams = "tcp", a.server.Addr, name, accountPassword, database, true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	a.t.Cleanup(func() { _ = db.Close() })
	return db
}

// users are those of the gates: with the accounts, and gateUser without one.
func (a *accounts) users() []proxy.User {
	return []proxy.User{
		{Name: gateUser, Password: gatePassword}, {Name: "reader", Password: gatePassword, Account: &catalog.Account{User: a.read, Password: accountPassword}},
		{Name: "writer", Password: gatePassword, Account: &catalog.Account{User: a.write, Password: accountPassword}},
	}
}

// options make a gate whose own account may do no more than it needs.
func (a *accounts) options() gateOptions {
	return gateOptions{users: a.users(), configure: func(c *proxy.Config) {
		c.IdleBackends = 5
		for _, whole := range c.Keyspaces {
			for _, k := range whole.EachShard() {
				a.grant("SELECT, INSERT, UPDATE, DELETE, EXECUTE", k.Database+".*", a.by)
				a.grant("SELECT", k.Database+".*", a.read)
				k.DB, k.Backend.User, k.Backend.Password = a.of(a.by, k.Database), a.by, accountPassword
				k.OpenAs = func(account catalog.Account) (*sql.DB, error) { return a.of(account.User, ""), nil }
			}
		}
	}}
}

// userOf gives a listed user's connections.
func (g *gate) userOf(t testing.TB, user, params string) *sql.DB {
	t.Helper()
	return openDSN(t, strings.Replace(g.dsn(params), gateUser+":", user+":", 1))
}

const currentUser = "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"

// A user's statements run as its account at the server, by the GRANTs of which it may what it may natively; ids come all the same.
func TestUserAccount(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		createSequence(t, g.direct, "lone_seq", 1, 1000)
		a.grant("SELECT, INSERT, UPDATE, DELETE", g.database+".users", a.write)
		native := map[string]*sql.DB{"reader": a.of(a.read, g.database), "writer": a.of(a.write, g.database)}
		for user, account := range map[string]string{gateUser: a.by, "reader": a.read, "writer": a.write} {
			for range 2 { // and again, by a kept connection
				db := g.userOf(t, user, "")
				if got := value[string](t, db, currentUser); got != account {
					t.Errorf("%s runs as %s, want %s", user, got, account)
				}
				_ = db.Close()
				await(t, "the connection to be kept for others", func() bool { return g.proxy.Traffic().Backends[0].Idle > 0 })
			}
		}
		for _, params := range []string{"", "interpolateParams=true"} {
			r, err := g.userOf(t, "writer", params).ExecContext(t.Context(), "INSERT INTO users (u) VALUES (?)", "x")
			if err != nil {
				t.Fatal(err)
			}
			if id, err := r.LastInsertId(); err != nil || id < firstID {
				t.Errorf("insert id %d, %v", id, err)
			}
			for _, tt := range []struct{ user, statement string }{
				{"reader", "INSERT INTO users (u) VALUES (?)"}, {"reader", "UPDATE users SET u = ?"},
				{"reader", "UPDATE users_seq AS `set` SET next_id = ?"}, {"writer", "UPDATE users_seq AS `set` SET next_id = ?"},
				{"writer", "SELECT next_id FROM users_seq WHERE id = ? FOR UPDATE"}, {"writer", "DELETE FROM users_seq WHERE id = ?"},
			} {
				want := errno(second(native[tt.user].ExecContext(t.Context(), tt.statement, 1)))
				if err := second(g.userOf(t, tt.user, params).ExecContext(t.Context(), tt.statement, 1)); want == 0 || errno(err) != want {
					t.Errorf("%s: %s: %v, natively error %d", tt.user, tt.statement, err, want)
				}
			}
		}
		for _, statement := range []string{"CREATE SEQUENCE s2", "DROP SEQUENCE lone_seq", "ALTER SEQUENCE users_seq RESTART WITH 9000000", "DROP TABLE users", "SET GLOBAL max_connections = 5"} {
			if err := second(g.userOf(t, "writer", "").ExecContext(t.Context(), statement)); !isDenial(errno(err)) {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM users WHERE id >= ? AND u = 'x'", firstID); n != 2 {
			t.Errorf("%d rows with ids, want 2", n)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// isDenial reports whether an error number is the servers' for a missing privilege.
func isDenial(number uint16) bool { return number == 1044 || number == 1142 || number == 1227 }

// In front of shards the account counts on each of them, whenever its connection is made.
func TestUserAccountOverShards(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newShardedGate(t, s, 2, a.options())
		for i := range g.shards {
			a.grant("SELECT, INSERT, DELETE", value[string](t, g.shards[i], "SELECT DATABASE()")+".*", a.write)
		}
		a.grant("SELECT", g.database+".*", a.write)
		ids := g.onEach(t)
		for i := range ids {
			exec(t, g.shards[i], fmt.Sprintf("INSERT INTO user (id) VALUES (%d)", ids[i][0]))
		}
		open := func(user string) *sql.Conn {
			return conn(t, openDSN(t, strings.Replace(fmt.Sprintf("%s:%s@tcp(%s)/customer", gateUser, gatePassword, g.addr), gateUser+":", user+":", 1)))
		}
		writer, reader := open("writer"), open("reader")
		for i := range ids {
			for account, c := range map[string]*sql.Conn{a.write: writer, a.read: reader} {
				if got := value[string](t, c, fmt.Sprintf("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1) FROM user WHERE id = %d", ids[i][0])); got != account {
					t.Errorf("shard %d: as %s, want %s", i, got, account)
				}
			}
		}
		for i := range ids {
			g.killThreads(t, i)
		}
		for i := range ids {
			await(t, "the loss of the connection to be over", func() bool {
				var got string
				err := writer.QueryRowContext(t.Context(), fmt.Sprintf("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1) FROM user WHERE id = %d", ids[i][0])).Scan(&got)
				if err == nil && got != a.write {
					t.Errorf("shard %d: as %s after the loss, want %s", i, got, a.write)
				}
				return err == nil
			})
		}
		exec(t, writer, "DELETE FROM user WHERE id > 0", "INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f')")
		for _, statement := range []string{"INSERT INTO user (name) VALUES ('z')", "DELETE FROM user"} {
			if err := second(reader.ExecContext(t.Context(), statement)); errno(err) != 1142 {
				t.Errorf("%s: %v, want error 1142", statement, err)
			}
		}
	})
}

// COM_CHANGE_USER goes over to the other user's account.
func TestChangeUserAccount(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		a.grant("SELECT", g.database+".*", a.write)
		c, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, step := range [][2]string{{"reader", a.read}, {"writer", a.write}, {gateUser, a.by}, {"reader", a.read}} {
			changeUser(t, c, step[0], g.database)
			r, err := c.Execute(currentUser)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.GetString(0, 0); err != nil || got != step[1] {
				t.Errorf("as %s after a change to %s, want %s (%v)", got, step[0], step[1], err)
			}
		}
	})
}

// A user ends its own sessions and statements though seqgate's own account has no privilege to, and its default database
// is known after CALL.
func TestKillOfAccount(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		a.grant("SELECT, INSERT, EXECUTE", g.database+".*", a.write)
		exec(t, g.direct, "CREATE PROCEDURE p() SELECT 1")
		kill := func(victim *client.Conn, statement string) {
			t.Helper()
			done := execute(victim, "SELECT SLEEP(120)")
			running := func() int { return g.threads(t, "INFO = 'SELECT SLEEP(120)'") }
			await(t, "the statement to run", func() bool { return running() == 1 })
			exec(t, g.userOf(t, "writer", ""), fmt.Sprintf(statement, victim.GetConnectionID()))
			_ = ended(t, done)
			await(t, statement, func() bool { return running() == 0 })
		}
		victim, err := client.Connect(g.addr, "writer", gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer victim.Close()
		kill(victim, "KILL QUERY %d")
		kill(victim, "KILL %d")
		c := conn(t, g.userOf(t, "writer", ""))
		exec(t, c, "CALL p()", "INSERT INTO users (u) VALUES ('x')")
		g.checkUsers(t, "1000000/x")
		rows := texts(t, c, "SELECT 'x'") // the connection is in order
		if len(rows) != 1 {
			t.Errorf("rows %q", rows)
		}
	})
}

// In front of shards KILL QUERY ends what runs on each of them as the user's account.
func TestKillOfAccountOverShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newShardedGate(t, s, 2, a.options())
		for i, ids := range g.onEach(t) {
			exec(t, g.shards[i], fmt.Sprintf("INSERT INTO user (id) VALUES (%d)", ids[0]))
		}
		dsn := fmt.Sprintf("reader:%s@tcp(%s)/customer", gatePassword, g.addr)
		victim, err := client.Connect(g.addr, "reader", gatePassword, "customer")
		if err != nil {
			t.Fatal(err)
		}
		defer victim.Close()
		for _, statement := range []string{"KILL QUERY %d", "KILL %d"} {
			done := execute(victim, "SELECT SLEEP(120) FROM user")
			running := func() (n int) {
				return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE INFO LIKE 'SELECT SLEEP(120)%' AND USER = ?", a.read)
			}
			await(t, "the statement to run", func() bool { return running() == 2 })
			exec(t, openDSN(t, dsn), fmt.Sprintf(statement, victim.GetConnectionID()))
			_ = ended(t, done)
			await(t, statement, func() bool { return running() == 0 })
		}
	})
}

// At a reload another account or password counts for new connections to servers, and a user who is not listed any more
// gets none.
func TestChangedAccount(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		a.grant("SELECT", g.database+".*", a.write)
		c := conn(t, g.userOf(t, "reader", ""))
		id := value[int64](t, c, "SELECT CONNECTION_ID()")
		change := func(users []proxy.User) {
			t.Helper()
			if err := g.proxy.Change(proxy.Settings{Users: users}); err != nil {
				t.Fatal(err)
			}
		}
		lose := func(id int64) {
			t.Helper()
			exec(t, g.direct, fmt.Sprintf("KILL %d", id))
			await(t, "its end", func() bool { return g.threads(t, fmt.Sprintf("ID = %d", id)) == 0 })
		}
		users := a.users()
		users[1].Account = users[2].Account
		change(users)
		if got := value[string](t, g.userOf(t, "reader", ""), "SELECT CURRENT_USER()"); got != a.write+"@%" {
			t.Errorf("as %s, want the new account %s", got, a.write)
		}
		if got := value[string](t, c, "SELECT CURRENT_USER()"); got != a.read+"@%" {
			t.Errorf("as %s, want %s, as which the connection was made", got, a.read)
		}
		lose(id)
		await(t, "another connection", func() bool {
			var got string
			err := c.QueryRowContext(t.Context(), "SELECT CURRENT_USER()").Scan(&got)
			if err == nil && got != a.write+"@%" {
				t.Errorf("as %s after the loss, want the new account %s", got, a.write)
			}
			return err == nil
		})
		id = value[int64](t, c, "SELECT CONNECTION_ID()")
		change([]proxy.User{users[0]})
		if got := value[string](t, c, "SELECT CURRENT_USER()"); got != a.write+"@%" {
			t.Errorf("as %s, want %s", got, a.write)
		}
		lose(id)
		await(t, "the refusal of another connection", func() bool {
			_, err := c.ExecContext(context.Background(), "SELECT 1")
			if err == nil {
				t.Error("a user who is not listed got another connection")
			}
			return err == nil || errno(err) == 1045
		})
	})
}

// Values of a sequence are for users whose account may use its table, whatever seqgate's own account may, and whether the table was
// there when they asked first.
func TestNextValueNeedsAccountsRight(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		createSequence(t, g.direct, "lone_seq", 1, 1000)
		a.grant("SELECT, INSERT", g.database+".users", a.write)
		for _, user := range []string{"reader", "writer"} {
			c := conn(t, g.userOf(t, user, ""))
			for _, form := range []string{"SELECT NEXT VALUE FROM lone_seq", "SELECT NEXTVAL(lone_seq)"} {
				fails(t, c, 1142, "GRANT REFERENCES", form)
			}
		}
		exec(t, conn(t, g.userOf(t, gateUser, "")), "SELECT NEXT VALUE FROM lone_seq")
		c := conn(t, g.userOf(t, "writer", ""))
		exec(t, c, "INSERT INTO users (u) VALUES ('x')") // needs none
		a.grant("REFERENCES", g.database+".lone_seq", a.write)
		exec(t, c, "SELECT NEXT VALUE FROM lone_seq")
		if err := second(c.ExecContext(t.Context(), "SELECT NEXT VALUE FROM late_seq")); err == nil {
			t.Error("there is no such sequence, and it gave a value")
		}
		createSequence(t, g.direct, "late_seq", 1, 1000)
		await(t, "the refusal", func() bool { // what is known of the table ages
			err := second(c.ExecContext(t.Context(), "SELECT NEXT VALUE FROM late_seq"))
			if err == nil {
				t.Fatal("a value came for an account that may not use the table")
			}
			return errno(err) == 1142
		})
	})
}
