package steady

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What the load is made of.
const (
	sessions    = 64               // that stay, and share the operations
	churners    = 8                // that connect and quit
	churnRate   = 20.0             // connects a second
	controllers = 8                // sessions past seqgate
	control     = 0.1              // of the operations' rate
	manyRows    = 10               // of a multi-row INSERT
	executions  = 50               // of a prepared statement, before it is closed and made anew
	keepRows    = 30               // seconds that rows stay
	patience    = 30 * time.Second // for one operation
)

// load is what clients do. It ends with ctx, or with the first error, which is the cause then.
type load struct {
	ctx     context.Context
	fail    context.CancelCauseFunc
	gate    string // DSN of seqgate
	server  string // DSN past it
	leak    bool   // who connects does not quit
	began   time.Time
	running sync.WaitGroup

	operations, connects, controlled recorder

	filled, flaked, free, plain Blocks

	mu     sync.Mutex
	leaked []*session // to the end of the load
}

func (l *load) keep(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaked = append(l.leaked, s)
}

// recorder collects how long operations took.
type recorder struct {
	mu   sync.Mutex
	took []time.Duration
}

func (r *recorder) add(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, d)
}

// window returns what has ended since the last call.
func (r *recorder) window() Latency {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := NewLatency(r.took)
	r.took = r.took[:0]
	return l
}

// startLoad starts rate operations a second, the connects and the control, until end is called, which returns when all
// operations have been answered.
func startLoad(t *testing.T, gate, server string, rate float64, leak bool) (l *load, end func() error) {
	t.Helper()
	l = &load{gate: gate, server: server, leak: leak}
	l.ctx, l.fail = context.WithCancelCause(context.Background())
	open := func(dsn string, n int) (all []*session) {
		for worker := range n {
			s, err := l.connect(dsn, worker)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		return all
	}
	through, past := open(gate, sessions), open(server, controllers)
	for _, s := range through {
		if err := s.insert("filled", &l.filled, 1); err != nil { // for find
			t.Fatal(err)
		}
	}
	l.began = time.Now()
	for i, s := range through {
		l.pace(i, sessions, rate, &l.operations, func(k int) error { return s.act(k + i) })
	}
	for i := range churners {
		l.pace(i, churners, churnRate, &l.connects, func(int) error { return l.churn(i) })
	}
	for i, s := range past {
		l.pace(i, controllers, rate*control, &l.controlled, func(int) error { return s.insert("plain", &l.plain, 1) })
	}
	l.running.Go(l.trim)
	return l, func() error {
		l.fail(nil)
		l.running.Wait()
		for _, s := range slices.Concat(through, past, l.leaked) {
			s.close()
		}
		if cause := context.Cause(l.ctx); cause != context.Canceled {
			return cause
		}
		return nil
	}
}

// pace has one of several workers, which together do rate operations a second, do its share of them, at times that were set
// beforehand. An operation that begins late, as the one before it took long, is counted from when it was due.
func (l *load) pace(worker, workers int, rate float64, r *recorder, do func(k int) error) {
	l.running.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for k := 0; ; k++ {
			due := l.began.Add(time.Duration(float64(k*workers+worker) / rate * float64(time.Second)))
			timer.Reset(time.Until(due))
			select {
			case <-l.ctx.Done():
				return
			case <-timer.C:
			}
			if err := do(k); err != nil {
				l.fail(err)
				return
			}
			r.add(time.Since(due))
		}
	})
}

// churn is a client that stays for two statements.
func (l *load) churn(worker int) error {
	s, err := l.connect(l.gate, worker)
	if err != nil {
		return err
	}
	if l.leak {
		l.keep(s)
	} else {
		defer s.close()
	}
	if err := s.insert("filled", &l.filled, 1); err != nil {
		return err
	}
	return s.find()
}

// trim deletes the rows that were inserted longer than keepRows seconds ago, past seqgate.
func (l *load) trim() {
	s, err := l.connect(l.server, 0)
	if err != nil {
		l.fail(err)
		return
	}
	defer s.close()
	tables := map[string]*Blocks{"filled": &l.filled, "flaked": &l.flaked, "plain": &l.plain}
	old := map[string][]int64{} // the largest id of each second
	for every := time.NewTicker(time.Second); ; {
		select {
		case <-l.ctx.Done():
			every.Stop()
			return
		case <-every.C:
		}
		for table, ids := range tables {
			old[table] = append(old[table], ids.Max())
			if len(old[table]) <= keepRows {
				continue
			}
			if err := s.exec("DELETE FROM "+table+" WHERE id <= ?", old[table][0]); err != nil {
				l.fail(err)
				return
			}
			old[table] = slices.Delete(old[table], 0, 1)
		}
	}
}

// session is a client's connection.
type session struct {
	*load
	worker   int
	pool     *sql.DB // of this connection alone
	conn     *sql.Conn
	prepared *sql.Stmt
	used     int   // executions of prepared
	last     int64 // the id of the latest row in filled
}

func (l *load) connect(dsn string, worker int) (*session, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	cfg.InterpolateParams = true // what is not prepared on purpose goes as a text
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	s := &session{load: l, worker: worker, pool: sql.OpenDB(connector)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return s, nil
}

func (s *session) close() {
	_ = s.conn.Close() // gives it back to the pool, which ends it
	_ = s.pool.Close()
}

// act does the k-th operation, of all kinds in turn.
func (s *session) act(k int) error {
	switch k % 7 {
	case 0:
		return s.insert("filled", &s.filled, 1)
	case 1:
		return s.insertPrepared()
	case 2:
		return s.insert("filled", &s.filled, manyRows)
	case 3:
		return s.transaction()
	case 4:
		return s.next()
	case 5:
		return s.insert("flaked", &s.flaked, 1)
	}
	return s.find()
}

// insert adds rows to a table by one text.
func (s *session) insert(table string, ids *Blocks, rows int) error {
	text := fmt.Sprintf("INSERT INTO %s (worker) VALUES ", table) + strings.Repeat("(?), ", rows-1) + "(?)"
	return s.do("insert into "+table, func(ctx context.Context) error {
		result, err := s.conn.ExecContext(ctx, text, slices.Repeat([]any{s.worker}, rows)...)
		return s.note(ids, result, err)
	})
}

// note takes in which rows an INSERT made.
func (s *session) note(ids *Blocks, result sql.Result, err error) error {
	if err != nil {
		return err
	}
	first, err := result.LastInsertId()
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return err
	}
	ids.Add(first, rows)
	if ids == &s.filled {
		s.last = first
	}
	return nil
}

// insertPrepared adds a row by a prepared statement, which is closed and made anew now and then.
func (s *session) insertPrepared() error {
	return s.do("insert prepared", func(ctx context.Context) (err error) {
		if s.used++; s.used > executions {
			s.used = 0
			if err := s.prepared.Close(); err != nil {
				return err
			}
			s.prepared = nil
		}
		if s.prepared == nil {
			if s.prepared, err = s.conn.PrepareContext(ctx, "INSERT INTO filled (worker) VALUES (?)"); err != nil {
				return err
			}
		}
		result, err := s.prepared.ExecContext(ctx, s.worker)
		return s.note(&s.filled, result, err)
	})
}

// transaction adds a row and changes it.
func (s *session) transaction() error {
	return s.do("transaction", func(ctx context.Context) error {
		tx, err := s.conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // fails after the COMMIT
		result, err := tx.ExecContext(ctx, "INSERT INTO filled (worker) VALUES (?)", s.worker)
		if err := s.note(&s.filled, result, err); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE filled SET changed = 1 WHERE id = ?", s.last); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// next takes a value of a sequence.
func (s *session) next() error {
	return s.do("next value", func(ctx context.Context) error {
		var id int64
		if err := s.conn.QueryRowContext(ctx, "SELECT NEXT VALUE FROM free_seq").Scan(&id); err != nil {
			return err
		}
		s.free.Add(id, 1)
		return nil
	})
}

// find reads the latest row that this session inserted.
func (s *session) find() error {
	return s.do("select", func(ctx context.Context) error {
		var worker int
		err := s.conn.QueryRowContext(ctx, "SELECT worker FROM filled WHERE id = ?", s.last).Scan(&worker)
		if err == nil && worker != s.worker {
			err = fmt.Errorf("row %d is of worker %d, was inserted by %d", s.last, worker, s.worker)
		}
		return err
	})
}

func (s *session) exec(text string, args ...any) error {
	return s.do(text, func(ctx context.Context) error {
		_, err := s.conn.ExecContext(ctx, text, args...)
		return err
	})
}

// do calls f with the time there is for one operation. The end of the load does not break it off.
func (s *session) do(what string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
