package ops

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// Server is a MySQL server as the commands see it: connections and the tables of one database.
type Server struct {
	Keyspace string // whose server it is; "" for one outside of the configuration
	Shard    string // of a sharded keyspace; "" for the one of an unsharded keyspace
	database string
	DB       *sql.DB   // a pool of sequence.NewPool, for what is asked in parallel
	conn     *sql.Conn // of db, for what is asked one by one
	Tables   map[string]*catalog.Table

	foldsNames bool // lower_case_table_names: Users and users are one table
}

// Connect reaches the server of one shard of a keyspace and reads which tables there are.
func Connect(ctx context.Context, k config.Keyspace, shard config.Shard) (*Server, error) {
	s, err := openServer(ctx, shard.DSN)
	if err != nil {
		return nil, fmt.Errorf("keyspace %s at %s: %w", k.ServerName(shard), shard.DSN.Addr, err)
	}
	s.Keyspace = k.Name
	if k.Sharded() {
		s.Shard = shard.Name
	}
	return s, nil
}

// String is the name by which a client reaches the server: that of the keyspace, or keyspace:shard.
func (s *Server) String() string {
	if s.Shard == "" {
		return s.Keyspace
	}
	return s.Keyspace + ":" + s.Shard
}

// named is a table of the server as it is called in what the commands print.
func (s *Server) named(table string) TableName { return TableName{s.String(), table} }

// connectTimeout is how long a server may take to be reached when its DSN does not say.
const connectTimeout = 5 * time.Second

// openServer opens a pool of connections, makes one, and reads the tables of the DSN's database. What is asked later waits
// for as long as the server is not frozen: see [liveTimeout].
func openServer(ctx context.Context, dsn *mysql.Config) (*Server, error) {
	dsn = dsn.Clone()
	dsn.Timeout = cmp.Or(dsn.Timeout, connectTimeout)
	dsn, liveTimeout := waitWhileAlive(dsn)
	db, err := sequence.NewPool(dsn)
	if err != nil {
		return nil, err
	}
	s := &Server{database: dsn.DBName, DB: db, Tables: map[string]*catalog.Table{}}
	if s.conn, err = db.Conn(ctx); err == nil {
		err = s.readTables(ctx)
	}
	if err != nil {
		return nil, errors.Join(liveTimeout.explain(err), s.Close())
	}
	return s, nil
}

func (s *Server) Close() error {
	if s.conn == nil {
		return s.DB.Close()
	}
	return errors.Join(s.conn.Close(), s.DB.Close())
}

// table finds a table by its name, in any case where the server's names have none.
func (s *Server) table(name string) (*catalog.Table, bool) {
	if t, ok := s.Tables[name]; ok || !s.foldsNames {
		return t, ok
	}
	for other, t := range s.Tables {
		if strings.EqualFold(other, name) {
			return t, true
		}
	}
	return nil, false
}

func (s *Server) readTables(ctx context.Context) error {
	var mode int // MySQL manual, "Identifier Case Sensitivity"
	if err := s.conn.QueryRowContext(ctx, "SELECT @@lower_case_table_names").Scan(&mode); err != nil {
		return err
	}
	s.foldsNames = mode != 0
	err := s.eachRow(ctx, "SELECT table_name, table_type, engine, table_comment FROM information_schema.tables WHERE table_schema = ?",
		func(scan func(...any) error) error {
			var name string
			var kind, engine, comment sql.NullString // engine is NULL for a view
			if err := scan(&name, &kind, &engine, &comment); err != nil {
				return err
			}
			s.Tables[name] = &catalog.Table{Exists: true, Name: name, Kind: kind.String, Engine: engine.String, Comment: comment.String}
			return nil
		})
	if err != nil {
		return err
	}
	return s.eachRow(ctx, `SELECT table_name, column_name, column_type, collation_name, column_key, extra
		FROM information_schema.columns WHERE table_schema = ? ORDER BY table_name, ordinal_position`,
		func(scan func(...any) error) error {
			var table string
			var c catalog.Column
			var collation sql.NullString
			if err := scan(&table, &c.Name, &c.Type, &collation, &c.Key, &c.Extra); err != nil {
				return err
			}
			c.Collation = collation.String
			if t, ok := s.Tables[table]; ok { // else it was made between the two queries
				t.Columns = append(t.Columns, c)
			}
			return nil
		})
}

func (s *Server) eachRow(ctx context.Context, query string, f func(scan func(...any) error) error) error {
	rows, err := s.conn.QueryContext(ctx, query, s.database)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// quoted is the table's name in SQL.
func (s *Server) quoted(table string) string {
	return Quote(s.database) + "." + Quote(table)
}

func Quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// UsedIDs is what a table says of the ids that it has given to rows.
type UsedIDs struct {
	Max     int64 // the largest in the column; 0 for an empty table and negative ids
	Counter int64 // the next value of its AUTO_INCREMENT; 0 for a table without one
}

// Next is the first id that no row has had, as far as can be seen. It fails when ids end before it.
func (u UsedIDs) Next() (int64, error) {
	if u.Max == math.MaxInt64 || u.Counter == math.MaxInt64 {
		return 0, fmt.Errorf("the ids are used up: the largest is %d", int64(math.MaxInt64))
	}
	return max(u.Max+1, u.Counter, 1), nil
}

// ReadUsedIDs reads the largest id of a column, also of rows in open transactions, and the AUTO_INCREMENT counter. Both end at
// 2^63-1, as sequences do. It may be called in parallel: it has a connection of its own.
func (s *Server) ReadUsedIDs(ctx context.Context, table string, column catalog.Column) (used UsedIDs, err error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return UsedIDs{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Rows that are not committed yet will be.
	if _, err := conn.ExecContext(ctx, "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); err != nil {
		return UsedIDs{}, err
	}
	var last, counter sql.NullString
	err = conn.QueryRowContext(ctx, fmt.Sprintf("SELECT MAX(%s) FROM %s", idSQL(column), s.quoted(table))).Scan(&last)
	if err != nil {
		return UsedIDs{}, err
	}
	if err := freshStatistics(ctx, conn); err != nil {
		return UsedIDs{}, err
	}
	err = conn.QueryRowContext(ctx, "SELECT auto_increment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		s.database, table).Scan(&counter)
	if err != nil {
		return UsedIDs{}, err
	}
	if used.Max, err = clampID(last); err != nil {
		return UsedIDs{}, err
	}
	used.Counter, err = clampID(counter)
	return used, err
}

// idSQL is the id in a column that can hold a sequence's: of one that is no integer the number that it spells, or 0 where that is
// larger than any id.
func idSQL(c catalog.Column) string {
	if c.IsInteger() {
		return Quote(c.Name)
	}
	number := "CAST(" + Quote(c.Name) + " AS DECIMAL(65))"
	return "IF(" + number + " < 9223372036854775807, " + number + ", 0)"
}

// freshStatistics makes MySQL 8 and later read AUTO_INCREMENT counters from the tables instead of values up to a day
// old (MySQL manual, information_schema_stats_expiry). MariaDB has no such variable.
func freshStatistics(ctx context.Context, conn *sql.Conn) error {
	var name, value string
	err := conn.QueryRowContext(ctx, "SHOW VARIABLES LIKE 'information_schema_stats_expiry'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0")
	return err
}

// clampID brings a value of any integer type into 0 to 2^63-1; NULL is 0.
func clampID(text sql.NullString) (int64, error) {
	if !text.Valid || strings.HasPrefix(text.String, "-") {
		return 0, nil
	}
	n, err := strconv.ParseUint(text.String, 10, 64)
	return int64(min(n, math.MaxInt64)), err
}

// unreachable reports that a server did not answer, rather than refuse.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errSilent)
}
