package ops

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/go-sql-driver/mysql"
)

// oldMySQL is an old system that keeps its counters in MySQL.
type oldMySQL struct {
	*Server
	read func(ctx context.Context, s *Server, key string) (counter, error)
}

func (o oldMySQL) counter(ctx context.Context, key string) (counter, error) {
	return o.read(ctx, o.Server, key)
}

func openOldMySQL(ctx context.Context, dsn string, read func(context.Context, *Server, string) (counter, error)) (oldSystem, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, Usagef("--from: %w", err)
	}
	if cfg.DBName == "" {
		return nil, Usagef("--from: the DSN names no database: write user:password@tcp(host:port)/database")
	}
	s, err := openServer(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("database %s at %s: %w", cfg.DBName, cfg.Addr, err)
	}
	return oldMySQL{s, read}, nil
}

func openLeaf(ctx context.Context, dsn string) (oldSystem, error) {
	return openOldMySQL(ctx, dsn, readLeaf)
}

func openTinyid(ctx context.Context, dsn string) (oldSystem, error) {
	return openOldMySQL(ctx, dsn, readTinyid)
}

func openAutoIncrement(ctx context.Context, dsn string) (oldSystem, error) {
	return openOldMySQL(ctx, dsn, readAutoIncrement)
}

func openIdgo(ctx context.Context, dsn string) (oldSystem, error) {
	return openOldMySQL(ctx, dsn, readIdgo)
}

// readLeaf reads a tag of Leaf-segment. Its servers give [max_id - step, max_id): max_id is the next id (Leaf,
// SegmentIDGenImpl.updateSegmentFromDb).
func readLeaf(ctx context.Context, s *Server, key string) (found counter, err error) {
	err = readCounter(ctx, s, "SELECT max_id, COALESCE(step, 0) FROM leaf_alloc WHERE biz_tag = ?", key, &found.next, &found.step)
	return found, err
}

// readTinyid reads a biz_type of tinyid. Its servers give (max_id - step, max_id], of these, with a delta over 1, only
// the ids that leave the remainder: max_id + 1 is above them all.
func readTinyid(ctx context.Context, s *Server, key string) (found counter, err error) {
	var largest, delta, remainder int64
	err = readCounter(ctx, s, "SELECT max_id, COALESCE(step, 0), delta, remainder FROM tiny_id_info WHERE biz_type = ?", key,
		&largest, &found.step, &delta, &remainder)
	if err != nil {
		return found, err
	}
	if delta > 1 {
		found.note = fmt.Sprintf("; it gives only ids that leave %d when divided by %d, the sequence gives all: import from all its servers at once", remainder, delta)
	}
	found.next, err = above(largest)
	return found, err
}

func readCounter(ctx context.Context, s *Server, query, key string, to ...any) error {
	err := s.DB.QueryRowContext(ctx, query, key).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.New("there is no such key")
	}
	return err
}

// readAutoIncrement reads the AUTO_INCREMENT counter of a table, and its largest id in case that the counter is behind.
func readAutoIncrement(ctx context.Context, s *Server, table string) (found counter, err error) {
	t, ok := s.table(table)
	if !ok {
		return found, errors.New("there is no such table")
	}
	column, why := t.IDColumn()
	if why != "" {
		return found, errors.New(why)
	}
	used, err := s.ReadUsedIDs(ctx, table, *column)
	if err != nil {
		return found, err
	}
	found.next, err = used.Next()
	return found, err
}

// idgoBatch is how many ids an idgo gives after a refill, whatever its configured batch by which it moves the row
// (idgo, server/idgo.go, BatchCount in Next): with a smaller batch it gives ids above those that it has reserved.
const idgoBatch = 2000

// readIdgo reads a key's table of idgo, one row with the last id that was reserved.
func readIdgo(ctx context.Context, s *Server, table string) (counter, error) {
	found, err := readAutoIncrement(ctx, s, table)
	if err != nil {
		return found, err
	}
	if found.next > math.MaxInt64-idgoBatch {
		return found, errUsedUp
	}
	found.next += idgoBatch
	return found, nil
}
