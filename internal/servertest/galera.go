package servertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// galeraLibrary is where Debian's package galera-4 puts it.
const galeraLibrary = "/usr/lib/galera/libgalera_smm.so"

// Galera starts a cluster of MariaDBs that all take writes, with the user haproxy, who may log in without a password. A
// node that starts gets its data from another by wsrep_sst_rsync, which Debian has in the package mariadb-server.
func Galera(t *testing.T, n int) []*Server {
	t.Helper()
	if _, err := os.Stat(galeraLibrary); err != nil {
		t.Fatalf("no Galera (Debian: apt-get install galera-4): %v", err)
	}
	for _, name := range []string{"wsrep_sst_rsync", "rsync"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("no %s in PATH (Debian: packages mariadb-server and rsync)", name)
		}
	}
	var nodes []*Server
	members := "gcomm://"
	for i := range n {
		node, member, err := joinGalera(fmt.Sprint("n", i+1), members)
		if node != nil {
			nodes = append(nodes, own(t, node)...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			check(t, node, "create user", node.exec("CREATE USER haproxy@'%'"))
		} else {
			members += ","
		}
		members += member
	}
	for _, node := range nodes {
		e := node.engine.(*mariaDB)
		e.options = append(e.options, "--wsrep-cluster-address="+members) // when it starts again
	}
	return nodes
}

// joinGalera starts a node; the first one, that of no members, founds the cluster.
func joinGalera(name, members string) (node *Server, member string, err error) {
	var ports [4]int
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return nil, "", err
		}
	}
	member = fmt.Sprint("127.0.0.1:", ports[1])
	e, err := newMariaDB(ports[0], []string{
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-buffer-pool-size=32M",
		"--wsrep-on=ON", "--wsrep-provider=" + galeraLibrary, "--wsrep-cluster-address=" + members, "--wsrep-node-name=" + name,
		"--wsrep-node-address=" + member, "--wsrep-sst-method=rsync", fmt.Sprint("--wsrep-sst-receive-address=127.0.0.1:", ports[2]),
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=127.0.0.1:%d;gcache.size=32M", member, ports[3]),
	})
	if err != nil {
		return nil, "", err
	}
	if err = e.leaveRoot(); err == nil {
		node, err = boot("mariadb", ports[0], e)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("start node %s: %w", name, err), e.drop())
	}
	return node, member, awaitGalera(node)
}

// leaveRoot gives the server's files to nobody: rsync as root would become nobody too, who may not write them.
func (m *mariaDB) leaveRoot() error {
	const nobody = 65534
	if os.Getuid() != 0 {
		return nil
	}
	m.options = append(m.options, "--user=nobody")
	return filepath.WalkDir(m.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, nobody, nobody))
	})
}

// AwaitGalera returns when a node that was started again, or that was frozen, has all that the others have.
func AwaitGalera(tb testing.TB, node *Server) {
	tb.Helper()
	check(tb, node, "synchronize", awaitGalera(node))
}

func awaitGalera(node *Server) error {
	pool, err := node.open("")
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	for {
		var name, state string
		err := pool.QueryRowContext(ctx, "SHOW STATUS LIKE 'wsrep_local_state_comment'").Scan(&name, &state)
		if strings.EqualFold(state, "Synced") {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("it is %q: %w", state, errors.Join(err, ctx.Err()))
		}
		time.Sleep(100 * time.Millisecond)
	}
}
