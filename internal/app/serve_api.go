package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/idapi"
)

// apiServer gives ids over HTTP. The zero value, of a configuration without, gives none.
type apiServer struct {
	handler *idapi.Handler
	http    *http.Server
	group   errgroup.Group
}

// What bounds the requests of API clients, beside the wait for ids.
const (
	apiReadTimeout = 5 * time.Second
	apiWriteSlack  = 10 * time.Second // for an answer, when its ids are there
	apiMaxHeader   = 16 << 10
)

// serveAPI serves ids, if that is configured. It goes on while sessions drain, and tells that then.
func serveAPI(cfg *config.Config, server *proxy.Server, certificates *tls.Config, log *slog.Logger) (*apiServer, error) {
	if cfg.API.Listen == "" {
		return &apiServer{}, nil
	}
	l, err := net.Listen("tcp", cfg.API.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the API on %s: %w", cfg.API.Listen, err)
	}
	addr := l.Addr().String()
	wait := max(cfg.Sequences.Timeout, 2*cfg.Sequences.Lease) + time.Second // their own errors tell more than this one
	a := &apiServer{handler: idapi.New(idapi.Config{Source: server, Tokens: cfg.API.Tokens, MaxN: cfg.API.MaxN, Timeout: wait})}
	a.http = &http.Server{Handler: loggedPanics(a.handler, log), ReadHeaderTimeout: apiReadTimeout, ReadTimeout: apiReadTimeout,
		WriteTimeout: wait + apiWriteSlack, IdleTimeout: time.Minute, MaxHeaderBytes: apiMaxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)} // of clients that break off in a handshake
	l = limitListener(l, cfg.API.Connections, a.http)
	if cfg.API.TLS {
		l = tls.NewListener(l, certificates)
	}
	a.group.Go(func() error {
		if err := a.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the API on %s: %w", cfg.API.Listen, err)
		}
		return nil
	})
	log.Info("api", "addr", addr)
	return a, nil
}

// loggedPanics tells of a panic in a handler, which would be lost among what clients break off, and ends its connection.
func loggedPanics(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		defer func() {
			if fault := recover(); fault != nil {
				log.Error("a request of the API failed by a fault of seqgate's: report it", "path", q.URL.Path, "fault", fault, "stack", string(debug.Stack()))
				panic(http.ErrAbortHandler)
			}
		}()
		h.ServeHTTP(w, q)
	})
}

// setTokens has other tokens count.
func (a *apiServer) setTokens(tokens []idapi.Token) {
	if a.handler != nil {
		a.handler.SetTokens(tokens)
	}
}

// counts returns what was answered.
func (a *apiServer) counts() []idapi.Count {
	if a.handler == nil {
		return nil
	}
	return a.handler.Counts()
}

// drain lets requests under way end, until ctx does.
func (a *apiServer) drain(ctx context.Context) error {
	if a.http == nil {
		return nil
	}
	return a.http.Shutdown(ctx)
}

// close ends what is left.
func (a *apiServer) close() error {
	if a.http == nil {
		return nil
	}
	return errors.Join(a.http.Close(), a.group.Wait())
}
