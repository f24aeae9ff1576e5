package proxy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// errorNumberOf gives the number of an error of go-mysql's client, 0 for none of the server's.
func errorNumberOf(err error) uint16 {
	var e *protocol.MyError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// KILL of the session's own id ends as at the server itself, by both of its ids.
func TestKillOwn(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		plain, sharded := newGate(t, s, gateOptions{}), newShardedGate(t, s, 2, gateOptions{})
		addrs := map[string][2]string{"plain": {plain.addr, plain.database}, "sharded": {sharded.addr, "customer"}}
		for name, kill := range map[string]func(c *client.Conn, id uint64) error{
			"KILL QUERY": func(c *client.Conn, id uint64) error {
				_, err := c.Execute(fmt.Sprintf("KILL QUERY %d", id))
				return err
			},
			"KILL": func(c *client.Conn, id uint64) error { _, err := c.Execute(fmt.Sprintf("KILL %d", id)); return err },
			"COM_PROCESS_KILL": func(c *client.Conn, id uint64) error {
				c.ResetSequence()
				b := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, protocol.COM_PROCESS_KILL}, uint32(id))
				if err := c.WritePacket(b); err != nil {
					return err
				}
				_, err := c.ReadOKPacket()
				return err
			},
		} {
			native, err := client.Connect(s.Addr, s.User, s.Password, "")
			if err != nil {
				t.Fatal(err)
			}
			killed := kill(native, uint64(native.GetConnectionID()))
			want := errorNumberOf(killed)
			_, err = native.Execute("DO 1")
			goesOn := err == nil
			_ = native.Close()
			if want == protocol.ER_UNKNOWN_COM_ERROR {
				continue // MySQL does not have COM_PROCESS_KILL any more
			}
			if want == 0 {
				t.Fatalf("%s: the server says %v", name, killed)
			}
			for place, addr := range addrs {
				for _, greeted := range []bool{true, false} {
					c, err := client.Connect(addr[0], gateUser, gatePassword, addr[1])
					if err != nil {
						t.Fatal(err)
					}
					id := uint64(c.GetConnectionID())
					if id < 1<<30 || id >= 1<<31 {
						t.Errorf("the id %d of a session is none from 2^30 to 2^31", id)
					}
					if !greeted {
						r, err := c.Execute("SELECT CONNECTION_ID()")
						if err != nil {
							t.Fatal(err)
						}
						if id, err = r.GetUint(0, 0); err != nil {
							t.Fatal(err)
						}
					}
					if got := errorNumberOf(kill(c, id)); got != want {
						t.Errorf("%s, %s, greeted %v: error %d, the server's is %d", place, name, greeted, got, want)
					}
					if _, err := c.Execute("DO 1"); (err == nil) != goesOn {
						t.Errorf("%s, %s: behind it %v, the server goes on: %v", place, name, err, goesOn)
					}
					_ = c.Close()
				}
			}
		}
	})
}
