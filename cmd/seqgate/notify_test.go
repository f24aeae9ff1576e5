package main

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
)

// notifySocket stands in for systemd's.
func notifySocket(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return l
}

// told is the next thing that systemd is told.
func told(t *testing.T, l *net.UnixConn) string {
	t.Helper()
	if err := l.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := l.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestNotifySystemd(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "s"), "@seqgate-test-" + filepath.Base(t.TempDir())} {
		l := notifySocket(t, name)
		if err := app.NotifySystemd("READY=1"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := told(t, l); got != "READY=1" {
			t.Errorf("%s: told %q", name, got)
		}
	}
	for name, ok := range map[string]bool{"": true, "relative": false, filepath.Join(t.TempDir(), "nobody"): false} {
		t.Setenv("NOTIFY_SOCKET", name)
		if err := app.NotifySystemd("READY=1"); (err == nil) != ok {
			t.Errorf("NOTIFY_SOCKET=%q: %v", name, err)
		}
	}
}

// systemd is told when clients are taken, and when that ends.
func TestServeTellsSystemd(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		_, _, args := sequencedTable(t, s)
		l := notifySocket(t, filepath.Join(t.TempDir(), "s"))
		p := start(t, args...)
		if got := told(t, l); got != "READY=1" {
			t.Errorf("told %q after the start", got)
		}
		p.signal(t, syscall.SIGTERM)
		if got := told(t, l); got != "STOPPING=1" {
			t.Errorf("told %q when it stops", got)
		}
		if code := p.exited(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}
