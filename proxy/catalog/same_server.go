package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// One server may stand in the configuration under several addresses: a name, a number, a socket. Which keyspaces are on
// one server is known by what the servers say of themselves, where the addresses differ.

// identityFresh is how long it is believed which server an address leads to. When the server is away it holds for longer.
const identityFresh = time.Minute

// identities knows the servers of addresses.
type identities struct {
	mu    sync.Mutex
	known map[string]identity // by address
}

type identity struct {
	server string
	asked  time.Time
}

// sameServer reports whether two keyspaces are on one server. It is an error when that cannot be known.
func (c *Cache) sameServer(ctx context.Context, a, b *Keyspace) (bool, error) {
	if a.Backend.Addr == b.Backend.Addr {
		return true, nil
	}
	one, err := c.servers.of(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := c.servers.of(ctx, b)
	return one == other, err
}

// of returns the server of a keyspace, asked once in identityFresh.
func (i *identities) of(ctx context.Context, k *Keyspace) (string, error) {
	i.mu.Lock()
	known := i.known[k.Backend.Addr]
	i.mu.Unlock()
	if known.server != "" && time.Since(known.asked) < identityFresh {
		return known.server, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	server, err := identify(ctx, k.DB)
	if err != nil && known.server != "" {
		return known.server, nil // it was there, and is away
	}
	if err != nil {
		return "", fmt.Errorf("ask the server of keyspace %s which one it is: %w", k, err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil {
		i.known = make(map[string]identity)
	}
	i.known[k.Backend.Addr] = identity{server, time.Now()}
	return server, nil
}

// identityVariables are those that a server has for as long as it runs; no part alone would do. MySQL's server_uuid is the
// same on copies of a data directory, MariaDB has none, and names, ports and directories repeat in containers.
var identityVariables = []string{"hostname", "port", "datadir", "socket", "pid_file", "server_uuid", "server_uid"}

// clusterVariables name a cluster, all of whose servers have the same tables.
var clusterVariables = []string{"group_replication_group_name", "wsrep_cluster_state_uuid"}

// identify asks a server for what tells it from all others; servers of one cluster are one.
func identify(ctx context.Context, db *sql.DB) (string, error) {
	said := make(map[string]string)
	names := append(identityVariables[:len(identityVariables):len(identityVariables)], clusterVariables...)
	for _, show := range []string{"VARIABLES", "STATUS"} {
		rows, err := db.QueryContext(ctx, "SHOW GLOBAL "+show+" WHERE Variable_name IN ('"+strings.Join(names, "', '")+"')")
		if err != nil {
			return "", err
		}
		if err := scanPairs(rows, said); err != nil {
			return "", err
		}
	}
	for _, name := range clusterVariables {
		if said[name] != "" {
			return name + "=" + said[name], nil
		}
	}
	if said["server_uuid"] == "" && said["server_uid"] == "" && (said["hostname"] == "" || said["port"] == "" || said["datadir"] == "") {
		return "", errors.New("it has neither a server_uuid nor a hostname, port and datadir to tell it by: write its address in the same way for all keyspaces")
	}
	var b strings.Builder
	for _, name := range identityVariables {
		fmt.Fprintf(&b, "%s=%q ", name, said[name])
	}
	return b.String(), nil
}

func scanPairs(rows *sql.Rows, into map[string]string) error {
	defer rows.Close()
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		into[strings.ToLower(name)] = value.String
	}
	return rows.Err()
}
