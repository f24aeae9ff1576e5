//go:build !slim

// Package demoengine is the MySQL-compatible server behind `seqgate demo`: dolthub/go-mysql-server's
// memory engine on a loopback port, nothing to install and nothing kept. A build with the tag slim
// leaves it out.
//
// The engine alone must not serve several connections: its transactions copy every table they look
// at and write all of them back, so that even a reader undoes another connection's update
// (https://github.com/dolthub/go-mysql-server/issues/1506). Connections are therefore served one at
// a time: handler.go has the locks, sequencetable.go keeps sequence tables out of the copies, and
// lastid.go reports the insert ids that the engine leaves out.
package demoengine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"sync"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// SequenceUser is the MySQL user (no password) for sequence refills. Its statements do not wait for
// transactions of other users: a client whose open transaction needs ids would otherwise wait for
// itself. Everybody else logs in as root, without a password.
const SequenceUser = "sequence"

// lockWaitTimeout is the session variable that bounds waiting for another connection's transaction,
// in seconds, with InnoDB's default and range:
// https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html#sysvar_innodb_lock_wait_timeout
const lockWaitTimeout = "innodb_lock_wait_timeout"

// Engine is a running server. Its data live in memory until Close.
type Engine struct {
	engine   *sqle.Engine
	server   *server.Server
	handler  *handler
	provider *memory.DbProvider
	addr     string
	accepts  sync.WaitGroup
}

// Start serves an empty MySQL-compatible engine on a free port of 127.0.0.1 until Close; ctx bounds
// only the start. The engine's own log goes to logger at debug level. The engine keeps its logs and
// system variables per process: engines of one process all log to the first one's logger, and must
// not be started by several goroutines at once.
func Start(ctx context.Context, logger *slog.Logger) (*Engine, error) {
	redirectLogs(logger)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the demo engine: %w", err)
	}
	e := &Engine{addr: listener.Addr().String(), provider: memory.NewDBProvider()}
	e.engine = sqle.NewDefault(&provider{e.provider})
	defineVariables()
	addUsers(e.engine)
	e.server, err = server.NewServerWithHandler(
		server.Config{Listener: listener, Address: e.addr, Version: version()},
		e.engine, sql.NewContext, newSessionBuilder(e.provider), nil,
		func(h mysql.Handler) (mysql.Handler, error) {
			e.handler = newHandler(h)
			return e.handler, nil
		})
	if err != nil {
		return nil, fmt.Errorf("start the demo engine: %w", errors.Join(err, listener.Close(), e.engine.Close()))
	}
	e.accepts.Go(e.server.Listener.Accept)
	return e, nil
}

// Addr is the address that the engine listens on, 127.0.0.1:port.
func (e *Engine) Addr() string { return e.addr }

// Exec runs statements in order in one session, each committed by itself, and stops at the first
// error. It is for setting up tables; it waits for open transactions as clients do.
func (e *Engine) Exec(statements ...string) error {
	root := sql.NewBaseSessionWithClientServer(e.addr, sql.Client{User: "root", Address: "localhost"}, 0)
	session := memory.NewSession(root, e.provider)
	return e.handler.setUp(func() error {
		for _, s := range statements {
			ctx := sql.NewContext(context.Background(), sql.WithSession(session))
			_, rows, _, err := e.engine.Query(ctx, s)
			if err == nil {
				_, err = sql.RowIterToRows(ctx, rows)
			}
			if err != nil {
				return fmt.Errorf("demo engine: %s: %w", s, err)
			}
		}
		return nil
	})
}

// Close ends all connections, waits for their statements to end and drops the data. Calling it again
// does nothing.
func (e *Engine) Close() error {
	e.server.Listener.Close()
	e.accepts.Wait()
	e.handler.close()
	if err := e.engine.Close(); err != nil && !errors.Is(err, context.Canceled) { // that is how it ends its own threads
		return fmt.Errorf("close the demo engine: %w", err)
	}
	return nil
}

func addUsers(e *sqle.Engine) {
	db := e.Analyzer.Catalog.MySQLDb
	editor := db.Editor()
	defer editor.Close()
	for _, user := range []string{"root", SequenceUser} {
		db.AddSuperUser(editor, user, "%", "")
	}
}

// defineVariables gives the engine InnoDB's lock wait timeout (its own one is global and always 1), insert_id, counts of
// warnings and errors, and a version comment that says to a client's greeting what it is.
func defineVariables() {
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{
		&sql.MysqlSystemVariable{
			Name:    lockWaitTimeout,
			Scope:   sql.GetMysqlScope(sql.SystemVariableScope_Both),
			Dynamic: true,
			Type:    types.NewSystemIntType(lockWaitTimeout, 1, 1<<30, false),
			Default: int64(50),
		},
		&sql.MysqlSystemVariable{ // which seqgate reads; nothing here makes ids of its own
			Name:    "insert_id",
			Scope:   sql.GetMysqlScope(sql.SystemVariableScope_Session),
			Dynamic: true,
			Type:    types.NewSystemIntType("insert_id", 0, math.MaxInt64, false),
			Default: int64(0),
		},
		count("warning_count"), count("error_count"),
		&sql.MysqlSystemVariable{
			Name:    "version_comment",
			Scope:   sql.GetMysqlScope(sql.SystemVariableScope_Global),
			Type:    types.NewSystemStringType("version_comment"),
			Default: "seqgate demo engine (go-mysql-server, in memory)",
		},
	})
}

// count is a variable of which seqgate asks what a statement has left: nothing here warns.
func count(name string) sql.SystemVariable {
	return &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session),
		Type: types.NewSystemIntType(name, 0, math.MaxInt64, false), Default: int64(0)}
}

// version is what SELECT VERSION() says: the greeting's own default differs from it.
func version() string {
	_, v, _ := sql.SystemVariables.GetGlobal("version")
	s, _ := v.(string)
	return s
}
