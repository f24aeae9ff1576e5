package app

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// NotifySystemd tells systemd how far the service is, as units of Type=notify want it: one datagram to the socket that
// NOTIFY_SOCKET names, by a path or, with @ in front, in Linux's abstract namespace. Without that it does nothing.
// https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
func NotifySystemd(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "@") {
		return fmt.Errorf("tell systemd %s: NOTIFY_SOCKET is %q, want a path or a name after @", state, name)
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		return fmt.Errorf("tell systemd %s: %w", state, err)
	}
	_, err = c.Write([]byte(state))
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("tell systemd %s: %w", state, err)
	}
	return nil
}
