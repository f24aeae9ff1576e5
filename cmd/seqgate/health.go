package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"
)

// health asks at the admin address, or else as a client.
func (s *adminSource) health(ctx context.Context, live bool) error {
	at, listen := atAddress(config.Admin{}, s.addr), ""
	if s.addr == "" {
		var err error
		if at, listen, err = healthAddresses(cmp.Or(s.file, os.Getenv("SEQGATE_CONFIG")), os.Getenv); err != nil {
			return err
		}
	}
	ask := "/readyz"
	if live {
		ask = "/livez"
	}
	err := errNoAdmin
	if at.Listen != "" {
		err = askHealth(ctx, at, ask)
	}
	if listen != "" && (err == errNoAdmin || errors.Is(err, syscall.ECONNREFUSED)) {
		err = greeted(ctx, listen)
	}
	return err
}

var errNoAdmin = errors.New("the configuration has neither an admin address nor one for clients")

// askHealth asks at the admin address. The certificate is not verified: nothing secret is sent, and one that is just renewed, or
// whose files are broken, does not make seqgate ill.
func askHealth(ctx context.Context, at config.Admin, page string) error {
	if at.TLS.Cert != "" {
		at = config.Admin{Listen: "https://" + reachable(at.Listen)}
	}
	at.Password = ""
	client, err := newAdminClient(at)
	if err != nil {
		return err
	}
	client.transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	_, err = client.ask(ctx, http.MethodGet, page)
	return err
}

// healthAddresses returns the admin address of a configuration, an empty one for none, and the first one for clients. Other mistakes in
// it, and variables that only seqgate itself is given, do not matter.
func healthAddresses(file string, getenv func(string) string) (at config.Admin, listen string, err error) {
	if file == "" {
		return at, "", ops.Usagef("no configuration: give --config FILE or --admin ADDR")
	}
	cfg, _, err := app.Loader(getenv).LoadTolerantly(file)
	if err != nil {
		return at, "", err
	}
	if len(cfg.Listen) > 0 {
		listen = cfg.Listen[0]
	}
	return cfg.Admin, listen, nil
}

// reachable is the address at which this machine reaches what listens on addr.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // dialling it says what is wrong
	}
	switch ip := net.ParseIP(host); {
	case host == "", ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip.Equal(net.IPv6unspecified):
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// greeted connects as a client does and reads the beginning of the greeting: four bytes of header, and the protocol's
// version 10, or 255 for an error.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html
func greeted(ctx context.Context, addr string) (err error) {
	network, target := "tcp", reachable(addr)
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, target = "unix", path
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, target)
	if err != nil {
		return fmt.Errorf("connect as a client: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := c.SetReadDeadline(deadline); err != nil {
			return err
		}
	}
	var start [5]byte
	switch _, err := io.ReadFull(c, start[:]); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s sends no greeting to clients", addr)
	case err != nil:
		return fmt.Errorf("read the greeting of %s: %w", addr, err)
	case start[4] == 0xff:
		return fmt.Errorf("%s refuses clients", addr)
	case start[4] != 10:
		return fmt.Errorf("%s does not speak MySQL's protocol", addr)
	}
	return nil
}
