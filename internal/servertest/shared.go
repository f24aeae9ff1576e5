package servertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

const (
	nameMariaDB = "mariadb"
	nameMySQL97 = "mysql97"
	nameDSN     = "dsn"

	envDSN     = "SEQGATE_TEST_DSN"
	envMySQL97 = "SEQGATE_TEST_MYSQL97"
	envServers = "SEQGATE_TEST_SERVERS"
)

// slots holds the servers that this process's tests share. Each is looked for once: one that did not start is not tried
// again for every test.
var slots = map[string]*slot{nameMariaDB: {}, nameMySQL97: {}, nameDSN: {}}

type slot struct {
	once   sync.Once
	server *Server
	err    error
}

// sharedNames lists the servers that Each looks for.
func sharedNames() []string {
	if os.Getenv(envDSN) != "" {
		return []string{nameDSN, nameMySQL97}
	}
	return []string{nameMariaDB, nameMySQL97}
}

// First returns the first shared server that this machine has, for benchmarks; it skips when there is none.
func First(tb testing.TB) *Server {
	tb.Helper()
	var reasons []string
	for _, name := range sharedNames() {
		s, err := shared(name)
		if err == nil {
			return s
		}
		reasons = append(reasons, err.Error())
	}
	tb.Skip(strings.Join(reasons, "; "))
	return nil
}

// shared returns the shared server of that name, started on the first call; a missingError when there can be none.
func shared(name string) (*Server, error) {
	s := slots[name]
	s.once.Do(func() { s.server, s.err = find(name) })
	return s.server, s.err
}

// StartShared starts the servers that [Each] would use, all at once, and returns the value of SEQGATE_TEST_SERVERS that
// hands them to other processes, and why this machine lacks the others. They run until [StopShared] or the end of this
// process.
func StartShared() (value string, missing []string, err error) {
	names := sharedNames()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { _, _ = shared(name) }) // its slot keeps the outcome
	}
	all.Wait()
	var pairs []string
	for _, name := range names {
		s, err := shared(name)
		var lacks missingError
		switch {
		case errors.As(err, &lacks):
			missing = append(missing, err.Error())
		case err != nil:
			return "", nil, errors.Join(err, StopShared())
		default:
			pairs = append(pairs, name+"="+s.DSN(""))
		}
	}
	return strings.Join(pairs, ","), missing, nil
}

// StopShared stops the shared servers that this process started and deletes their data. No test may run any more.
func StopShared() error {
	var errs []error
	for name, slot := range slots {
		if s := slot.server; s != nil && s.engine != nil {
			slot.server, slot.err = nil, fmt.Errorf("%s was stopped", name)
			if err := s.engine.drop(); err != nil {
				errs = append(errs, fmt.Errorf("drop %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// find returns the running server the environment names, or launches one.
func find(name string) (*Server, error) {
	given, err := parseServers(os.Getenv(envServers))
	if err != nil {
		return nil, err
	}
	if dsn := given[name]; dsn != "" {
		return connect(name, dsn)
	}
	if name == nameDSN {
		return connect(name, os.Getenv(envDSN))
	}
	return launch(name)
}

// parseServers reads the value of SEQGATE_TEST_SERVERS into DSNs by name.
func parseServers(value string) (map[string]string, error) {
	dsns := map[string]string{}
	for pair := range strings.SplitSeq(value, ",") {
		if pair == "" {
			continue
		}
		name, dsn, ok := strings.Cut(pair, "=")
		if !ok || (name != nameMariaDB && name != nameMySQL97 && name != nameDSN) {
			return nil, fmt.Errorf("%s: %q is not mariadb=DSN, mysql97=DSN or dsn=DSN", envServers, pair)
		}
		dsns[name] = dsn
	}
	return dsns, nil
}

// connect describes a server that runs already.
func connect(name, dsn string) (*Server, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("DSN of %s: %w", name, err)
	}
	config.DBName = ""
	s := &Server{Name: name, Addr: config.Addr, User: config.User, Password: config.Passwd, config: config}
	if err := s.identify(); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return s, nil
}

// launch starts a new server; a missingError when this machine has none of that name.
func launch(name string, options ...string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	var e engine
	if name == nameMySQL97 {
		e, err = newMySQL97(port, options)
	} else {
		e, err = newMariaDB(port, options)
	}
	if err != nil {
		return nil, err
	}
	s, err := boot(name, port, e)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), e.drop())
	}
	return s, nil
}

func boot(name string, port int, e engine) (*Server, error) {
	if err := e.start(); err != nil {
		return nil, err
	}
	s, err := connect(name, fmt.Sprintf("app:app@tcp(127.0.0.1:%d)/", port))
	if err != nil {
		return nil, err
	}
	s.engine = e
	return s, nil
}

// freePort returns a TCP port of 127.0.0.1 nobody listens on. It stays below the range that kernels take the ports of
// outgoing connections from (32768 and up on Linux), so that a stopped server finds its port free again. Nobody else is
// given it as long as this process lives.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := 15000 + rand.IntN(15000)
		claim, err := net.Listen("unix", fmt.Sprintf("@seqgate-test-port-%d", port)) // an abstract address: it ends with us
		if err != nil {
			last = err
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			claims.Store(port, claim)
			return port, l.Close()
		}
		last = errors.Join(err, claim.Close())
	}
	return 0, fmt.Errorf("find a free port: %w", last)
}

// claims keeps what says of ports that this process has them from the garbage collector.
var claims sync.Map
