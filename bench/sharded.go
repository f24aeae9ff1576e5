package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/vschema"
)

// shardedLoads are the workloads that are also measured on two shards: through seqgate the tables are divided among two
// databases of the server, direct and through the relay they stand in one.
var shardedLoads = []string{"point select, text", "point select, prepared", "1-row INSERT, text", "1-row INSERT, prepared", "100-row INSERT"}

var shardNames = []string{"-80", "80-"}

const shardedKeyspace = "customer"

// shardedVSchema divides the tables by their ids. The sequence stands in the keyspace of the unsharded tables.
const shardedVSchema = `{"keyspaces": {%[1]q: {"tables": {"filled_seq": {"type": "sequence"}}},
	%[2]q: {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"points": {"column_vindexes": [{"column": "id", "name": "hash"}]},
		"filled": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "%[1]s.filled_seq"}}}}}}`

// sharded returns whether a workload is measured on shards too, and what it is called there.
func (w *workload) sharded() (name string, ok bool) {
	return "sharded " + w.name, slices.Contains(shardedLoads, w.name)
}

// shards are the databases of a sharded keyspace.
type shards struct {
	db        *sql.DB
	names     []string
	databases []string
}

// createShards makes the databases beside that of the unsharded tables, and divides the points among them.
func createShards(ctx context.Context, db *sql.DB, main string, names []string) (s *shards, err error) {
	s = &shards{db: db, names: names}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.drop())
		}
	}()
	hash, err := vschema.NewVindex("hash", nil, nil)
	if err != nil {
		return s, err
	}
	layout, err := vschema.NewShards(names)
	if err != nil {
		return s, err
	}
	points := make([][]string, len(names))
	for id := range int64(pointRows) {
		key, err := hash.Map(nil, []vschema.Value{vschema.Int(id + 1)})
		if err != nil {
			return s, err
		}
		i := layout.Find(key)
		points[i] = append(points[i], fmt.Sprintf("(%d, 'value %d')", id+1, id+1))
	}
	for i := range names {
		database := fmt.Sprintf("%s_shard%d", main, i)
		s.databases = append(s.databases, database)
		for _, statement := range []string{"CREATE DATABASE " + database,
			"CREATE TABLE " + database + ".points LIKE " + main + ".points", "CREATE TABLE " + database + ".filled LIKE " + main + ".filled",
			"INSERT INTO " + database + ".points VALUES " + strings.Join(points[i], ", ")} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return s, fmt.Errorf("%.60s: %w", statement, err)
			}
		}
	}
	return s, nil
}

func (s *shards) drop() (err error) {
	for _, database := range s.databases {
		_, dropErr := s.db.Exec("DROP DATABASE IF EXISTS " + database)
		err = errors.Join(err, dropErr)
	}
	return err
}

// startSharded starts a seqgate in front of the shards.
func startSharded(ctx context.Context, upstream *mysql.Config, s *shards, seqgate string) (*target, error) {
	dir, err := os.MkdirTemp("", "seqgate-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // what is in it is read at the start
	dsn := upstream.Clone()
	dsn.TLSConfig = "false" // as the direct connection
	text := fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: %[1]q, password: %[2]q}]\nvschema: vschema.json\ndefault_keyspace: %[3]s\n"+
		"keyspaces:\n  %[3]s: {shards: {\"-\": %[4]q}}\n  %[5]s:\n    shards:\n",
		upstream.User, upstream.Passwd, upstream.DBName, dsn.FormatDSN(), shardedKeyspace)
	for i, name := range s.names {
		dsn.DBName = s.databases[i]
		text += fmt.Sprintf("      %q: %q\n", name, dsn.FormatDSN())
	}
	for name, content := range map[string]string{"c.yaml": text, "vschema.json": fmt.Sprintf(shardedVSchema, upstream.DBName, shardedKeyspace)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	cmd := serveCommand(ctx, seqgate, filepath.Join(dir, "c.yaml"))
	t := &target{name: viaSeqgate, client: upstream.Clone(), ids: bySeqgate}
	t.client.DBName = shardedKeyspace
	return t, t.start(cmd, seqgateReady)
}

// measureSharded measures on shards what there is to measure there: the other targets are those of the unsharded tables.
// It returns nothing when seqgate is not among them.
func measureSharded(ctx context.Context, cfg *config, db *sql.DB, upstream *mysql.Config, seqgate string, others []*target, log io.Writer) (results []result, err error) {
	i := slices.IndexFunc(others, func(t *target) bool { return t.name == viaSeqgate })
	loads := cfg.workloads((*workload).sharded)
	if i < 0 || len(loads) == 0 {
		return nil, nil
	}
	s, err := createShards(ctx, db, upstream.DBName, shardNames)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop()) }()
	t, err := startSharded(ctx, upstream, s, seqgate)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	targets := slices.Clone(others)
	targets[i] = t
	results, inserted, err := measureLoads(ctx, cfg, loads, targets, log)
	if err != nil {
		return nil, err
	}
	return results, checkRows(ctx, db, s.databases, insertTable(true), rows{acknowledged: inserted[insertTable(true)]})
}
