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

// reloadHandler answers POST /-/reload, for clients on the same machine. Guard keeps pages of other sites away that have
// their names lead here.
func reloadHandler(reload func() (ReloadReport, error)) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.RemoteAddr) || isForwarded(r.Header) {
			say(w, http.StatusForbidden, "only clients on the same machine may reload seqgate: use a loopback address, or SIGHUP")
			return
		}
		report, err := reload()
		if err != nil {
			say(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report) // the client has gone, if anything
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
func isLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
