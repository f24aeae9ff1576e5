package app

import (
	"log/slog"
	"net"
	"strings"

	"github.com/seqgate/seqgate/internal/config"
)

// isOpen reports whether other machines can reach the address, and nobody asks them for a password.
func isOpen(a config.Admin) bool {
	host, _, err := net.SplitHostPort(a.Listen)
	if err != nil || a.Password != "" || strings.HasPrefix(a.Listen, "unix:") {
		return false
	}
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// warnOfOpen tells of an admin address that is open.
func warnOfOpen(cfg config.Admin, log *slog.Logger) {
	if isOpen(cfg) {
		log.Warn("whoever reaches the admin address sees all that seqgate tells there: set admin.password, or listen on loopback", "admin", cfg.Listen)
	}
}
