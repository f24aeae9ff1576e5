package vitess

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// defaultPoolSize is enough to keep a server on the same machine busy. As many connections as clients, 256, made Vitess slower
// in seven of eight comparisons on two cores, and with a few shards they are all that a server allows.
const defaultPoolSize = 64

// ShardNames names n shards of equal key ranges, from the lowest: "0" for one, which is Vitess's name for the shard of an
// unsharded keyspace, "-80" and "80-" for two. It returns nil unless n is a power of two up to 256.
func ShardNames(n int) []string {
	if n < 1 || n > 256 || n&(n-1) != 0 {
		return nil
	}
	if n == 1 {
		return []string{"0"}
	}
	bound := func(i int) string {
		if i == 0 || i == n {
			return "" // open
		}
		return fmt.Sprintf("%02x", i*256/n)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = bound(i) + "-" + bound(i+1)
	}
	return names
}

// The messages of Vitess's proto/vttest.proto, in its JSON.
type (
	vttestTopology struct {
		Keyspaces []vttestKeyspace `json:"keyspaces"`
	}
	vttestKeyspace struct {
		Name    string        `json:"name"`
		Shards  []vttestShard `json:"shards"`
		Primary int           `json:"replica_count"` // counts the primary
		RDOnly  int           `json:"rdonly_count"`
	}
	vttestShard struct {
		Name     string `json:"name"`
		Database string `json:"db_name_override"`
	}
)

// topology is the value of vtcombo's flag json_topo. Each shard has a primary only.
func topology(keyspaces []Keyspace) (string, error) {
	if len(keyspaces) == 0 {
		return "", errors.New("no keyspace for Vitess")
	}
	var t vttestTopology
	for _, k := range keyspaces {
		names := ShardNames(len(k.Databases))
		if names == nil {
			return "", fmt.Errorf("keyspace %s: %d databases, want 1, 2, 4, ... 256", k.Name, len(k.Databases))
		}
		ks := vttestKeyspace{Name: k.Name, Primary: 1, RDOnly: -1} // 0 would be 1
		for i, name := range names {
			ks.Shards = append(ks.Shards, vttestShard{name, k.Databases[i]})
		}
		t.Keyspaces = append(t.Keyspaces, ks)
	}
	text, err := json.Marshal(t)
	return string(text), err
}

// writeVSchemas writes the files that vtcombo looks for in its schema_dir.
func writeVSchemas(dir string, keyspaces []Keyspace) error {
	for _, k := range keyspaces {
		at := filepath.Join(dir, "schema", k.Name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(at, "vschema.json"), []byte(k.VSchema), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// flags are vtcombo's arguments. Its pools, of 16 connections and 20 transactions by default (which Vitess's issue 1873 calls rather
// conservative), are larger: queryserver-config-pool-size for reads, -transaction-cap for writes, -stream-pool-size for the rest.
// Writes wait for a connection as long as reads do, 30 s: with the default of 1 s some of 256 clients fail on a busy machine.
// No query is logged. What else Vitess does by default, it does: plans are cached, equal reads at the same time are one.
func flags(o *Options, topology, dir, vtgate string) []string {
	pool := strconv.Itoa(cmp.Or(o.PoolSize, defaultPoolSize))
	host, port, _ := net.SplitHostPort(vtgate)
	flags := []string{
		"--json_topo", topology, "--tablet_types_to_wait", "PRIMARY",
		"--schema_dir", filepath.Join(dir, "schema"),

		"--mysql_server_bind_address", host, "--mysql_server_port", port, "--mysql_server_version", "8.4.0-vitess",
		"--mysql_auth_server_impl", "none", // vtcombo has no other
		"--bind-address", host, "--port", "0", // its page, which it cannot do without

		"--db_charset", "utf8mb4", "--mycnf_server_id", "1",
		"--queryserver-config-pool-size", pool,
		"--queryserver-config-stream-pool-size", pool,
		"--queryserver-config-transaction-cap", pool, "--queryserver-config-txpool-timeout", "30s",

		"--logtostderr", "--querylog-mode", "error",
	}
	if o.Server.Net == "unix" {
		flags = append(flags, "--db_socket", o.Server.Addr)
	} else {
		host, port, _ := net.SplitHostPort(o.Server.Addr) // the driver has completed it
		flags = append(flags, "--db_host", host, "--db_port", port, "--db_ssl_mode", "disabled")
	}
	for _, account := range []string{"app", "dba", "allprivs", "filtered", "repl", "appdebug"} {
		flags = append(flags, "--db_"+account+"_user", o.Server.User, "--db_"+account+"_password", o.Server.Passwd)
	}
	return flags
}
