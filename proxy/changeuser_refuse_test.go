package proxy_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// changeWrongly sends a COM_CHANGE_USER with a wrong password and tells the steps to
// its refusal, answering each as a client does without TLS.
func changeWrongly(c *bulkClient, user string) (steps []string) {
	wrong := bytes.Repeat([]byte{7}, 32)
	sequence := byte(0)
	send := func(payload []byte) {
		if _, err := c.Write(append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, sequence}, payload...)); err != nil {
			c.Fatal(err)
		}
		sequence += 2
	}
	send(fmt.Appendf(nil, "\x11%s\x00\x20%s\x00\x2d\x00%s\x00", user, wrong, protocol.AUTH_CACHING_SHA2_PASSWORD))
	for range 8 {
		b := c.receive()
		switch {
		case b[0] == protocol.ERR_HEADER:
			return append(steps, fmt.Sprintf("error %d %s", int(b[1])|int(b[2])<<8, b[3:9]))
		case b[0] == protocol.EOF_HEADER: // another plugin, or salt
			send(wrong)
		case bytes.Equal(b, []byte{1, protocol.CACHE_SHA2_FULL_AUTH}):
			steps = append(steps, "asks for the password")
			send([]byte{2})
		case b[0] == 1 && strings.Contains(string(b), "PUBLIC KEY"):
			steps = append(steps, "gives its key")
			send(bytes.Repeat([]byte{9}, 256))
		default:
			return append(steps, fmt.Sprintf("%q", b))
		}
	}
	return steps
}

// A refused COM_CHANGE_USER has the steps of MySQL's: PHP's client loses the SQLSTATE of
// an error that stands in the place of one.
func TestChangeUserRefusedInFull(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{users: []proxy.User{{Name: gateUser, Password: gatePassword}, {Name: "other", Password: "else", Plugin: protocol.AUTH_CACHING_SHA2_PASSWORD}}})
		const authFlags = uint64(protocol.CLIENT_PLUGIN_AUTH | protocol.CLIENT_SECURE_CONNECTION)
		want := []string{"asks for the password", "gives its key", "error 1045 #28000"}
		if !s.IsMariaDB() {
			if native := changeWrongly(dialBulk(t, s.Addr, "", authFlags), s.User); fmt.Sprint(native) != fmt.Sprint(want) {
				t.Fatalf("MySQL's steps are %q", native)
			}
		}
		for _, user := range []string{"other", "nobody"} {
			if got := changeWrongly(dialBulk(t, g.addr, g.database, authFlags), user); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("for %s the steps are %q, want %q", user, got, want)
			}
		}
	})
}
