package idapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/proxy"
)

// Defaults of [Config].
const (
	DefaultMaxN    = 10_000
	DefaultTimeout = 15 * time.Second
)

// maxList is how many ids one answer lists: they are written out, unlike a run.
const maxList = 10_000

// maxQuery bounds the parameters of a request, in bytes.
const maxQuery = 4096

// Source is where ids come from; [*proxy.Server] is one.
type Source interface {
	// FindIDs finds a sequence or a generator among those whose full names may allows. The error matches
	// [proxy.ErrUnknownIDs], [proxy.ErrDeniedIDs] or [proxy.ErrAmbiguousIDs], or tells why it cannot be known.
	FindIDs(ctx context.Context, name string, may func(string) bool) (*proxy.IDs, error)
	// AllIDs returns those that are known without asking a server.
	AllIDs() []*proxy.IDs
	// Ready is false once new clients are to go elsewhere: those that come are answered.
	Ready() bool
	// Draining is true once no ids are to be given any more.
	Draining() bool
}

// Config is what a [Handler] needs.
type Config struct {
	Source Source
	Tokens []Token // who may ask; nobody when empty
	// MaxN is how many ids one request may ask for; [DefaultMaxN] when 0.
	MaxN int64
	// Timeout bounds a request, beyond what the sequence itself waits; [DefaultTimeout] when 0.
	Timeout time.Duration
}

// Handler answers the requests. Make one by [New].
type Handler struct {
	source  Source
	tokens  atomic.Pointer[[]*client]
	maxN    int64
	timeout time.Duration
	mux     *http.ServeMux
	counts  counters
}

// New returns the handler of the paths below /api.
func New(cfg Config) *Handler {
	h := &Handler{
		source: cfg.Source, maxN: cmp.Or(cfg.MaxN, DefaultMaxN), timeout: cmp.Or(cfg.Timeout, DefaultTimeout), mux: http.NewServeMux(),
	}
	h.SetTokens(cfg.Tokens)
	for _, r := range routes {
		h.mux.HandleFunc(r.path, func(w http.ResponseWriter, q *http.Request) { h.serve(w, q, r) })
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		h.fail(w, nil, fault{status: http.StatusNotFound, code: "not_found", text: "there is no such path: /api/v1/openapi.yaml describes those that there are"})
	})
	return h
}

// route is one path.
type route struct {
	path    string
	methods []string
	open    bool // to everybody
	answer  func(h *Handler, w http.ResponseWriter, q *http.Request, c *client) error
	fail    func(w http.ResponseWriter, f fault) // in the form of its answers
}

var routes = []route{
	{"/api/v1/sequences/{name}/next", []string{http.MethodGet, http.MethodPost}, false, (*Handler).next, failJSON},
	{"/api/v1/openapi.yaml", []string{http.MethodGet}, true, (*Handler).describe, failJSON},
	{"/api/segment/get/{key}", []string{http.MethodGet, http.MethodPost}, false, (*Handler).segment, failText},
	{"/api/snowflake/get/{key}", []string{http.MethodGet, http.MethodPost}, false, (*Handler).snowflake, failText},
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	// An answer that is given twice is an id that is given twice (RFC 9111, section 5.2.2.5).
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	h.mux.ServeHTTP(w, q)
}

// serve answers a request of a path.
func (h *Handler) serve(w http.ResponseWriter, q *http.Request, r route) {
	c, err := h.admit(w, q, r)
	if err == nil {
		ctx, cancel := context.WithTimeout(q.Context(), h.timeout)
		defer cancel()
		err = r.answer(h, w, q.WithContext(ctx), c)
	}
	if err == nil {
		return
	}
	f := faultOf(err) // told also when the request has ended: who has closed its half of the connection reads on
	h.counts.answered(c, f.status)
	f.writeHeaders(w)
	r.fail(w, f)
}

// admit tells who asks, if that may be answered now.
func (h *Handler) admit(w http.ResponseWriter, q *http.Request, r route) (*client, error) {
	if !slices.Contains(r.methods, q.Method) {
		w.Header().Set("Allow", strings.Join(r.methods, ", "))
		return nil, fault{status: http.StatusMethodNotAllowed, code: "method_not_allowed",
			text: q.Method + " is not answered here: use " + strings.Join(r.methods, " or ")}
	}
	if r.open {
		return nil, nil
	}
	if !h.source.Ready() {
		w.Header().Set("Connection", "close") // the next request looks for a seqgate that stays
	}
	if h.source.Draining() {
		return nil, fault{status: http.StatusServiceUnavailable, code: "draining", errno: errShutdown,
			text: "seqgate is shutting down: ask another one", retry: time.Second}
	}
	c := h.identify(q)
	if c == nil {
		return nil, fault{status: http.StatusUnauthorized, code: "unauthorized", errno: errAccessDenied,
			text: "no token, or one that is not known: send Authorization: Bearer TOKEN"}
	}
	if wait := c.rate.take(time.Now()); wait > 0 {
		return c, fault{status: http.StatusTooManyRequests, code: "rate_limited", errno: errLimitReached,
			text: "token " + c.Name + " has used up its rate: ask again later, or for more ids at once", retry: wait}
	}
	return c, readable(q)
}

// readable refuses requests that say more than what is read.
func readable(q *http.Request) error {
	switch {
	case q.ContentLength != 0:
		return badRequest("a body is not read: write the parameters behind the path, as ?n=10")
	case len(q.URL.RawQuery) > maxQuery:
		return badRequest("the parameters are too long")
	}
	return nil
}

// fail answers a request of no path.
func (h *Handler) fail(w http.ResponseWriter, c *client, f fault) {
	h.counts.answered(c, f.status)
	failJSON(w, f)
}
