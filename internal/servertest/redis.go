package servertest

import (
	"context"
	"net"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"
)

// StartRedis starts a redis-server of the test's own, which keeps nothing on disk, and returns its address when it
// answers. It skips the test where none is installed.
func StartRedis(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil { // Debian's package redis-tools has the program too, which is a server by its name
		path, err = exec.LookPath("redis-check-rdb")
	}
	if err != nil {
		lacks(tb, "redis-server is not installed: apt-get install redis-tools")
	}
	addr := FreeAddr(tb)
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", tb.TempDir())
	server.Args[0] = "redis-server"
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // tells that it was killed
	})
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for client.Ping(ctx).Err() != nil {
		if ctx.Err() != nil {
			tb.Fatalf("redis-server did not answer in %v", patience)
		}
	}
	return addr
}
