package servertest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// zooKeeperJar is Debian's server (package libzookeeper-java), and nettyJars what its manifest leaves out for TLS.
const (
	zooKeeperJar = "/usr/share/java/zookeeper.jar"
	nettyJars    = "/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar"
)

// StartZooKeeper starts a ZooKeeper of the test's own and returns its address when it answers. With certificates it is that
// of its TLS port, for clients that show one. It skips the test where none is installed, except in CI.
func StartZooKeeper(tb testing.TB, certs ...Certificates) (addr string) {
	tb.Helper()
	java, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(zooKeeperJar)
	}
	if err != nil {
		lacks(tb, fmt.Sprintf("no ZooKeeper is installed (Debian: apt-get install libzookeeper-java default-jre-headless): %v", err))
	}
	dir := newFolder(tb, "zookeeper")
	plain := FreeAddr(tb)
	addr = plain
	config := "dataDir=" + dir + "\nclientPort=" + portOf(plain) + "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\ntickTime=500\n"
	answers := func() error { return servesZooKeeper(plain) }
	for _, c := range certs {
		addr = FreeAddr(tb)
		config += zooKeeperTLS(tb, dir, addr, c)
		secure := c.Client(tb)
		answers = func() error { return errors.Join(servesZooKeeper(plain), handshakes(addr, secure)) }
	}
	file := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", // starts sooner
		"-cp", zooKeeperJar+":"+nettyJars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
	startChild(tb, dir, cmd, answers)
	return addr
}

// zooKeeperTLS is the configuration of a TLS port. A "key store" is one file with the key and the certificate.
func zooKeeperTLS(tb testing.TB, dir, addr string, c Certificates) string {
	tb.Helper()
	var store []byte
	for _, path := range []string{c.Key, c.Cert} {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		store = append(store, text...)
	}
	path := filepath.Join(dir, "store.pem")
	if err := os.WriteFile(path, store, 0o600); err != nil {
		tb.Fatal(err)
	}
	return "secureClientPort=" + portOf(addr) + "\nsecureClientPortAddress=127.0.0.1\n" +
		"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\nssl.keyStore.location=" + path +
		"\nssl.trustStore.location=" + c.CA + "\nssl.clientAuth=need\nssl.hostnameVerification=false\n"
}

// servesZooKeeper asks the server for its status ("srvr"): it listens before it serves.
func servesZooKeeper(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err
	}
	defer conn.Close() // read to its end
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return err
	}
	status, err := io.ReadAll(conn)
	if err == nil && !strings.Contains(string(status), "Mode:") {
		err = fmt.Errorf("its status is %q", status)
	}
	return err
}

func handshakes(addr string, cfg *tls.Config) error {
	conn, err := tls.Dial("tcp", addr, cfg)
	if err != nil {
		return err
	}
	return conn.Close()
}

func portOf(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
