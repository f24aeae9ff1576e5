package admin

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"
	"unicode"
)

//go:embed templates
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// refresh is how often the script of the pages asks for the numbers again, and for the history.
const refresh = 2 * time.Second

// maxSessions bounds the sessions that are shown, and about which servers are asked.
const maxSessions = 500

// sessionsTimeout bounds how long servers are asked what sessions do.
const sessionsTimeout = 3 * time.Second

// Session is a client's session. Nothing in it is of what its statements say.
type Session struct {
	ID                             uint64
	User, Host, Keyspace           string
	Database, Command, Time, State string // as the server tells; Time is in seconds
	Pinned                         bool
}

// pages are the status page and its subpages. All they show is read when they are asked for.
type pages struct {
	cfg       Config
	named     names // knows what the columns hold that sequences fill
	templates map[string]*template.Template
}

// registerPages adds the pages to the admin address.
//
//	GET /              the overview, sequences, generators and servers
//	GET /sessions      the clients
//	GET /statements    statements by their shape, and the latest slow ones
//	GET /vschema       the vschema, drawn
//	GET /history.json  the last hour, for the charts
func registerPages(mux *http.ServeMux, cfg Config) {
	p := &pages{cfg: cfg, named: names{most: maxSequences}, templates: make(map[string]*template.Template)}
	for _, name := range []string{"overview", "sessions", "statements", "vschema"} {
		p.templates[name] = template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html"))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { p.show(w, "overview", p.overview(time.Now())) })
	mux.HandleFunc("GET /sessions", func(w http.ResponseWriter, r *http.Request) { p.show(w, "sessions", p.sessions(r.Context())) })
	mux.HandleFunc("GET /statements", func(w http.ResponseWriter, _ *http.Request) { p.show(w, "statements", p.statements()) })
	mux.HandleFunc("GET /vschema", func(w http.ResponseWriter, _ *http.Request) { p.show(w, "vschema", p.vschema()) })
	mux.Handle("GET /history.json", cfg.History)
	for _, name := range []string{"app.js", "style.css", "favicon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, assetFiles, "assets/"+name)
		})
	}
}

// frame is what all pages have.
type frame struct {
	Page, Version string
	Ready         bool
	Refresh       int64 // in milliseconds
	At            string
}

func (p *pages) frame(page string, now time.Time) frame {
	return frame{Page: page, Version: p.cfg.Version, Ready: p.cfg.Ready(), Refresh: refresh.Milliseconds(), At: moment(now)}
}

// show writes a page. It is made whole before, so that an error is not half a page.
func (p *pages) show(w http.ResponseWriter, name string, data any) {
	var page bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&page, "layout", data); err != nil {
		http.Error(w, fmt.Sprintf("make the page: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.Map(printable, page.Bytes())) // the client has gone, if anything fails
}

// printable puts U+FFFD in the place of what names of clients and tables may have in them and no text has: control characters, which
// HTML forbids and a terminal obeys, and those that turn the direction of the text behind them.
func printable(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return unicode.ReplacementChar
	}
	return r
}

// sessionsPage lists clients.
type sessionsPage struct {
	frame
	Sessions []Session
	Total    string
	More     string // those that are not listed; "" for none
	Problem  string
}

func (p *pages) sessions(ctx context.Context) sessionsPage {
	ctx, cancel := context.WithTimeout(ctx, sessionsTimeout)
	defer cancel()
	page := sessionsPage{frame: p.frame("sessions", time.Now())}
	all, total, err := p.cfg.Sessions(ctx, maxSessions)
	page.Sessions, page.Total = all, grouped(int64(total))
	if total > len(all) {
		page.More = grouped(int64(total - len(all)))
	}
	if err != nil {
		page.Problem = err.Error()
	}
	return page
}

// vschemaPage draws the vschema.
type vschemaPage struct {
	frame
	Declared bool // there is a vschema
	Picture  picture
	Tables   []tableRow
	Vindexes []vindexRow
	Servers  []Server
}

func (p *pages) vschema() vschemaPage {
	v := p.cfg.VSchema()
	return vschemaPage{
		frame: p.frame("vschema", time.Now()), Declared: v != nil,
		Picture: draw(v, p.cfg.Servers), Tables: tablesOf(v), Vindexes: vindexesOf(v), Servers: p.cfg.Servers,
	}
}
