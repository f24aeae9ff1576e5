package proxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// sequences.max_n holds for clients that say to be a seqgate, and not for one that proves it.
func TestMaxValuesOfPeer(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		for proof, want := range map[string]bool{"1": true, proxy.PeerProof(""): true, proxy.PeerProof(s.Password): false} {
			c := g.connect(t, func(c *client.Conn) error {
				c.SetAttributes(map[string]string{proxy.PeerAttribute: proof})
				return nil
			})
			_, err := c.Execute("SELECT NEXT 10001 VALUES FROM msg_seq FOR KEY '7'")
			if refused := err != nil && strings.Contains(err.Error(), "sequences.max_n"); refused != want { // the section may be short of so many
				t.Errorf("with the attribute %s: %v, want it refused: %v", proof, err, want)
			}
			r, err := c.Execute("SELECT COUNT(*) FROM performance_schema.session_account_connect_attrs WHERE attr_name = '" + proxy.PeerAttribute + "'")
			if err != nil {
				t.Fatal(err)
			}
			if n, err := r.GetInt(0, 0); err != nil || n != 0 {
				t.Errorf("the server shows the proof to the account: %d, %v", n, err)
			}
		}
	})
}

// What is asked for values and is no plain sequence leaves none behind.
func TestNoSequenceLeftBehind(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE other (id INT)")
		for _, name := range []string{"msg_seq", "other"} {
			fails(t, c, 1347, "", "SELECT NEXT VALUE FROM "+name)
			if _, err := c.ExecContext(t.Context(), "SELECT NEXT ? VALUES FROM "+name, 2); errno(err) != 1347 {
				t.Errorf("%s, prepared: %v, want 1347", name, err)
			}
		}
		createSequence(t, c, "real_seq", 1, 10)
		exec(t, c, "SELECT NEXT VALUE FROM real_seq", "ALTER TABLE real_seq COMMENT ''")
		var names []string
		for _, name := range g.sequences.Names() {
			names = append(names, name.Table)
		}
		if !slices.Equal(names, []string{"real_seq"}) {
			t.Errorf("sequences in memory: %v, want real_seq alone", names)
		}
	})
}
