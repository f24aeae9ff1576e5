package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What hostile clients may cost a seqgate, each of them.
const (
	mostHalfOpen   = 32 << 10  // bytes of one that connects and says nothing, or little
	mostUnread     = 256 << 10 // bytes of one that reads no answer
	mostWrong      = 16 << 20  // bytes of all wrong passwords together: nothing stays of them
	hostileSlack   = 24 << 20  // bytes of the process beside: its heap grows in steps
	hostileLatency = 2 * time.Second
)

// held is what a process holds.
type held struct{ memory, goroutines, descriptors int }

// use asks for it.
func (p *process) use(t *testing.T) held {
	t.Helper()
	u, err := p.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return held{int(u.Resident), int(u.Goroutines), int(u.Descriptors)}
}

// slowest runs a short statement again and again and gives the third longest time of one, beside the median: what a machine
// that stalls holds up is one or two.
func slowest(t *testing.T, db *sql.DB) (median, third time.Duration) {
	t.Helper()
	const statements = 201
	took := make([]time.Duration, statements)
	for i := range took {
		begun := time.Now()
		run1(t, db, "INSERT INTO t (v) VALUES (1)")
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	return took[statements/2], took[statements-3]
}

// released waits until a process holds what it did before, but for the connections to the server of its own and of the
// page that is asked.
func released(t *testing.T, p *process, before held) {
	t.Helper()
	const few = 5
	var now held
	defer func() { t.Logf("before %+v, after %+v", before, now) }()
	awaitBusy(t, "descriptors and goroutines to be given back", func() bool {
		now = p.use(t)
		return now.descriptors <= before.descriptors+few && now.goroutines <= before.goroutines+few
	})
}

// awaitBusy waits for what takes long on a machine that is busy with other tests too.
func awaitBusy(t *testing.T, what string, condition func() bool) {
	t.Helper()
	const limit = 5 * time.Minute
	for begun := time.Now(); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > limit {
			t.Fatalf("%s: still waiting after %v", what, limit)
		}
	}
}

// Clients that connect and say nothing, or stop in the middle, that send wrong passwords, or read nothing, leave others
// served and cost so much memory and no more; nothing of theirs is left behind.
func TestHostileClients(t *testing.T) {
	s := servertest.First(t)
	for name, attack := range map[string]func(t *testing.T, p *process, served func(*testing.T, string)){
		"half-open": halfOpen, "wrong passwords": wrongPasswords, "unread answers": unreadAnswers,
	} {
		t.Run(name, func(t *testing.T) { // each with a seqgate of its own: memory that one attack took would serve the next
			_, database, _ := sequencedTable(t, s)
			p := start(t, "serve", "--config", writeFile(t, "seqgate.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0"}
users: [{name: app, password: app}, {name: old, password: old, plugin: mysql_native_password}]
timeouts: {handshake: 30m} # longer than it takes anywhere to have all of them connect
limits: {idle_backends: 0}
keyspaces: {main: {shards: {"-": %q}}}
`, s.DSN(database))))
			db := openClient(t, "app", "app", p.addr, "main")
			db.SetMaxOpenConns(1)
			usual, _ := slowest(t, db)
			attack(t, p, func(t *testing.T, who string) {
				t.Helper()
				median, third := slowest(t, db)
				t.Logf("statements beside %s: median %v, third longest %v; median before %v", who, median, third, usual)
				if third > hostileLatency+100*usual {
					t.Errorf("three statements beside %s took %v or more, want less than %v more than usual (%v)", who, third, hostileLatency, usual)
				}
			})
		})
	}
}

func halfOpen(t *testing.T, p *process, served func(*testing.T, string)) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	n := min(10_000, int(limit.Cur)-500) // limits.connections; each is one descriptor here and one there
	before := p.use(t)
	clients := make([]net.Conn, n)
	defer func() {
		for _, c := range clients {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	var group sync.WaitGroup
	const dialers = 8
	for d := range dialers {
		group.Go(func() {
			for i := d; i < n; i += dialers {
				var err error
				if clients[i], err = net.Dial("tcp", p.addr); err != nil {
					t.Error(err)
					return
				}
				if i%4 == 0 {
					continue
				}
				words := []string{"", "\x00", "\x20\x00\x00\x01\x85\xa6", "\x00\x38\x01\x01\x85\xa6"}[i%4] // part of a header, of a response, of a long one
				if _, err := clients[i].Write([]byte(words)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	var during held
	awaitBusy(t, "all clients to be there", func() bool {
		during = p.use(t)
		return during.descriptors-before.descriptors >= n*9/10 && during.goroutines-before.goroutines >= n*9/10
	})
	each := (during.memory - before.memory) / n
	t.Logf("%d half-open clients: %d bytes each, %+v (before %+v)", n, each, during, before)
	if most := n*mostHalfOpen + hostileSlack; during.memory-before.memory > most {
		t.Errorf("%d half-open clients take %d bytes, want at most %d", n, during.memory-before.memory, most)
	}
	served(t, "half-open clients")
	begun := time.Now()
	for range 20 {
		fresh := openClient(t, "app", "app", p.addr, "main")
		if err := fresh.PingContext(t.Context()); err != nil {
			t.Fatalf("a client that logs in: %v", err)
		}
		if err := fresh.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("20 logins took %v", time.Since(begun))
	for _, c := range clients {
		if c != nil {
			_ = c.Close()
		}
	}
	released(t, p, before)
}

// openGuesser gives a client with a wrong password, each of whose logins comes from another address: those of one are slowed down.
func openGuesser(t *testing.T, user, addr, tls string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.TLSConfig = tls
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", addr, user, "wrong", "main"
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		n := guesses.Add(1)
		from := net.IPv4(127, 1+byte(n>>16), byte(n>>8), byte(n))
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, network, addr)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var guesses atomic.Uint32

func wrongPasswords(t *testing.T, p *process, served func(*testing.T, string)) {
	before := p.use(t)
	var group sync.WaitGroup
	for _, user := range []string{"app", "old", "nobody"} {
		for _, tls := range []string{"", "skip-verify"} {
			group.Go(func() {
				n := 1000
				if tls != "" {
					n = 100 // they cost both sides more
				}
				db := openGuesser(t, user, p.addr, tls)
				for range n {
					var refused *mysql.MySQLError
					if err := db.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
						t.Errorf("%s, tls %q, with a wrong password: %v, want error 1045", user, tls, err)
						return
					}
				}
			})
		}
	}
	served(t, "wrong passwords")
	group.Wait()
	during := p.use(t)
	if most := mostWrong + hostileSlack; during.memory-before.memory > most {
		t.Errorf("wrong passwords take %d bytes, want at most %d", during.memory-before.memory, most)
	}
	released(t, p, before)
}

func unreadAnswers(t *testing.T, p *process, served func(*testing.T, string)) {
	const n = 20
	before := p.use(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range n {
		reader := openClient(t, "app", "app", p.addr, "main")
		rows, err := reader.QueryContext(ctx, "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT REPEAT('x', 1000000) FROM n")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() // nothing is read of them
	}
	served(t, "clients that do not read")
	during := p.use(t)
	t.Logf("%d clients that do not read: %d bytes each", n, (during.memory-before.memory)/n)
	if most := n*mostUnread + hostileSlack; during.memory-before.memory > most {
		t.Errorf("%d clients that do not read take %d bytes, want at most %d", n, during.memory-before.memory, most)
	}
	leave() // which cuts their connections off
	released(t, p, before)
}
