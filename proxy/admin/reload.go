package admin

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
)

// ReloadReport says which keys of the configuration have changed.
type ReloadReport struct {
	Reloaded     []string `json:"reloaded"`      // they count now
	NeedsRestart []string `json:"needs_restart"` // they count after a restart
}

// reloadHandler answers POST /-/reload.
func reloadHandler(reload func() (ReloadReport, error)) http.Handler {
	return onThisMachine("reload seqgate: use a loopback address, or SIGHUP", func(w http.ResponseWriter, _ *http.Request) {
		report, err := reload()
		if err != nil {
			say(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report) // the client has gone, if anything
	})
}

// onThisMachine has clients on the same machine alone do what changes something; the others are told what only those may do.
// Guard keeps pages of other sites away that have their names lead here.
func onThisMachine(what string, h http.HandlerFunc) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r) || isForwarded(r.Header) {
			say(w, http.StatusForbidden, "only clients on the same machine may "+what)
			return
		}
		h(w, r)
	}))
}

// isForwarded reports whether a proxy on this machine asks for a client that may be anywhere.
func isForwarded(h http.Header) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if len(h.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// isLocal reports whether a client is on this machine.
func isLocal(r *http.Request) bool {
	if onSocket(r) {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// onSocket reports whether a client comes by a Unix socket.
func onSocket(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && at.Network() == "unix"
}
