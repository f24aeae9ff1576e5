package composetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The tables that the servers make at their first start are those that the vschema wants: seqgate check, with the
// services' servers in their places, finds nothing wrong.
func TestTablesAgreeWithTheVSchema(t *testing.T) {
	compose := readCompose(t)
	gates := compose.seqgates(t)
	mounted := gates["seqgate1"].mounted(configPath(t))
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		text := string(readFile(t, mounted))
		for keyspace, k := range readConfig(t, mounted).Keyspaces {
			for shard, dsn := range k.Shards {
				text = strings.ReplaceAll(text, dsn, firstStart(t, s, compose, keyspace+"/"+shard, dsn))
			}
		}
		dir := t.TempDir()
		for name, data := range map[string]string{"seqgate.yaml": text, "vschema.json": string(readFile(t, "testdata/compose/vschema.json"))} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := servertest.GoCommand("run", "github.com/seqgate/seqgate/cmd/seqgate", "check", "--config", filepath.Join(dir, "seqgate.yaml"))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "errors: 0, warnings: 0") {
			t.Errorf("seqgate check: %v\n%s", err, out)
		}
	})
}

// firstStart runs what a service's server runs at its first start, in a database of the test's, and returns its DSN.
func firstStart(t *testing.T, s *servertest.Server, compose composeFile, shard, dsn string) string {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("%s: %v", shard, err)
	}
	host, _, _ := strings.Cut(config.Addr, ":")
	db := s.NewDatabase(t)
	started := 0
	for _, v := range compose.Services[host].Volumes {
		source, target, _ := strings.Cut(v, ":")
		if !strings.HasPrefix(target, "/docker-entrypoint-initdb.d/") {
			continue
		}
		started++
		if err := runScript(s.DSN(db), string(readFile(t, source))); err != nil {
			t.Fatalf("%s: %s: %v", shard, source, err)
		}
	}
	if started == 0 {
		t.Fatalf("%s: the service %s makes no tables", shard, host)
	}
	return s.DSN(db)
}
