package admin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// A page whose name was made to lead to this machine gets nothing, and reloads nothing; nor does who comes through a proxy
// on this machine reload.
func TestGuardOfNames(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	reloads := 0
	h := New(Config{Reload: func() (ReloadReport, error) { reloads++; return ReloadReport{}, nil }})
	for _, tt := range []struct {
		name, method, path, host, remote, password string
		header                                     http.Header
		want                                       int
	}{
		{name: "page", path: "/", host: "evil.example:3308", want: 403},
		{name: "metrics", path: "/metrics", host: "evil.example", want: 403},
		{name: "localhost's end", path: "/", host: "localhost.evil.example", want: 403},
		{name: "localhost's begin", path: "/", host: "evil-localhost", want: 403},
		{name: "health tells nothing", path: "/readyz", host: "evil.example:3308", want: 200},
		{name: "localhost", path: "/", host: "LocalHost:3308", want: 200},
		{name: "the machine's own name", path: "/metrics", host: own + ":3308", want: 200},
		{name: "a name below it", path: "/", host: "seqgate.localhost.", want: 200},
		{name: "address", path: "/", host: "127.0.0.1:3308", want: 200},
		{name: "address of IPv6", path: "/", host: "[::1]:3308", remote: "[::1]:9", want: 200},
		{name: "address of IPv6 without a port", path: "/", host: "[::1]", want: 200},
		{name: "no name, as in HTTP 1.0", path: "/metrics", host: "", want: 200},
		{name: "another machine", path: "/", host: "seqgate.example:3308", remote: "192.0.2.7:9", want: 200},
		{name: "password", path: "/", host: "seqgate.example:3308", password: "secret", want: 200},
		{name: "reload", method: "POST", path: "/-/reload", host: "127.0.0.1:3308", want: 200},
		{name: "reload under a name", method: "POST", path: "/-/reload", host: "evil.example:3308",
			header: http.Header{"Origin": {"http://evil.example:3308"}, "Sec-Fetch-Site": {"same-origin"}}, want: 403},
		{name: "reload through a proxy", method: "POST", path: "/-/reload", host: "127.0.0.1:3308",
			header: http.Header{"X-Forwarded-For": {"192.0.2.7"}}, want: 403},
		{name: "reload through a proxy, with the password", method: "POST", path: "/-/reload", host: "seqgate.example", password: "secret",
			header: http.Header{"Forwarded": {"for=192.0.2.7"}}, want: 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = http.MethodGet
			}
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.Host, r.RemoteAddr = tt.host, "127.0.0.1:9"
			if tt.remote != "" {
				r.RemoteAddr = tt.remote
			}
			if tt.header != nil {
				r.Header = tt.header
			}
			r.SetBasicAuth("any", tt.password)
			before, w := reloads, httptest.NewRecorder()
			Guard(tt.password, h).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tt.want)
			}
			if reloaded := reloads > before; reloaded != (tt.method == "POST" && tt.want == 200) {
				t.Errorf("reloaded: %v", reloaded)
			}
		})
	}
}
