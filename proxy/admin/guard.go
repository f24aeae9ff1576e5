package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// Guard has every answer of the admin address carry what keeps other pages away from it, and asks for a password (HTTP
// basic authentication, with any name) for all but /livez and /readyz, which load balancers ask without; for nothing when
// the password is empty. How long it takes tells nothing of the password. Without a password, clients on this machine are
// answered only under its own names (isRebound).
func Guard(password string, h http.Handler) http.Handler {
	want := sha256.Sum256([]byte(password))
	own, _ := os.Hostname() // who cannot tell it is asked under the other names
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.URL.Path == "/livez" || r.URL.Path == "/readyz" {
			h.ServeHTTP(w, r)
			return
		}
		if password == "" && isRebound(r, own) {
			say(w, http.StatusForbidden, "seqgate does not answer under this name: use localhost or an address in place of it, or set admin.password")
			return
		}
		if password != "" {
			_, given, _ := r.BasicAuth()
			got := sha256.Sum256([]byte(given))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", `Basic realm="seqgate", charset="UTF-8"`)
				say(w, http.StatusUnauthorized, "the password of the admin address is missing or wrong")
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// isRebound reports whether a client on this machine asks under a name that is neither localhost nor own: a page from
// elsewhere does that whose name's address was changed to a loopback one (DNS rebinding), and its browser holds the answer
// for that page's own. A browser always sends a Host, reaches no Unix socket, and no page is reached by rebinding that is asked
// for by an address.
func isRebound(r *http.Request, own string) bool {
	if !isLocal(r) || onSocket(r) || r.Host == "" {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err != nil && (own == "" || host != strings.ToLower(own)) && host != "localhost" && !strings.HasSuffix(host, ".localhost") // RFC 6761, section 6.3
}

// secure sets the headers of all answers: nothing but seqgate's own files is loaded or run by a page, no other page shows
// it in a frame, and nobody keeps it.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
