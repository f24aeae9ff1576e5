package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// guide is a section of a page in docs/ that is done block by block, in databases of a test's own: what the page says is
// what is tested.
type guide struct {
	t      *testing.T
	s      *servertest.Server
	blocks []block
	dir    string            // of the files that the section shows, and where its commands run
	dbs    map[string]string // the real database by server and database as the section names them, "10.0.0.1/shop"
	gate   *process          // the seqgate that it started last
	plain  bool              // that one has no users: clients log in as the server's own, and name the real database
	number int64             // what the last SELECT gave: N in what follows
}

// block is a part of the document between ``` lines; about is what stands behind the opening ones.
type block struct{ about, text string }

// newGuide reads a section of docs/moving-in.md, by its heading, and makes the databases.
func newGuide(t *testing.T, s *servertest.Server, heading string, databases ...string) *guide {
	t.Helper()
	return newGuideOf(t, s, "moving-in.md", heading, databases...)
}

// newGuideOf is newGuide for any page.
func newGuideOf(t *testing.T, s *servertest.Server, page, heading string, databases ...string) *guide {
	t.Helper()
	for _, program := range []string{"sh", "mariadb", "mariadb-dump"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the guide calls %s: %v", program, err)
		}
	}
	g := &guide{t: t, s: s, dir: t.TempDir(), dbs: map[string]string{}}
	g.readSection(page, heading)
	for _, name := range databases {
		g.dbs[name] = s.NewDatabase(t)
	}
	path, err := binary()
	if err == nil {
		err = os.Symlink(path, filepath.Join(g.dir, "seqgate"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// readSection takes the blocks from a heading of two # to the next.
func (g *guide) readSection(page, heading string) {
	g.t.Helper()
	document, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		g.t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(document), "\n## "+heading+"\n")
	if !ok {
		g.t.Fatalf("docs/%s has no section %q", page, heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	parts := strings.Split(section, "```")
	if len(parts)%2 == 0 {
		g.t.Fatalf("section %q: a block has no end", heading)
	}
	for i := 1; i < len(parts); i += 2 {
		about, text, _ := strings.Cut(parts[i], "\n")
		g.blocks = append(g.blocks, block{about, text})
	}
}

// do does the next n blocks, and returns what the last one printed.
func (g *guide) do(n int) string {
	g.t.Helper()
	var out string
	for range n {
		if len(g.blocks) == 0 {
			g.t.Fatal("the section has no more blocks")
		}
		b := g.blocks[0]
		g.blocks = g.blocks[1:]
		switch kind, file, _ := strings.Cut(b.about, " "); {
		case kind == "sql":
			g.sql(b.text)
		case b.about == "sh":
			out = g.shell(b.text)
		case b.about == "text":
			if out != b.text {
				g.t.Errorf("the command above prints\n%sand the page says\n%s", out, b.text)
			}
		case b.about == "sh serve":
			g.serve(b.text)
		case kind == "json" || kind == "yaml":
			if err := os.WriteFile(filepath.Join(g.dir, file), []byte(g.real(b.text)), 0o600); err != nil {
				g.t.Fatal(err)
			}
		default:
			g.t.Fatalf("a block of an unknown kind: ```%s", b.about)
		}
	}
	return out
}

// end checks that all blocks were done.
func (g *guide) end() {
	g.t.Helper()
	if len(g.blocks) > 0 {
		g.t.Errorf("%d blocks of the section are not tested", len(g.blocks))
	}
}

var docDSN = regexp.MustCompile(`app:secret@tcp\((10\.0\.0\.\d):3306\)/(\w+)`)

// real puts the test's servers and databases in place of the document's.
func (g *guide) real(text string) string {
	text = docDSN.ReplaceAllStringFunc(text, func(dsn string) string {
		m := docDSN.FindStringSubmatch(dsn)
		return g.s.DSN(g.database(m[1], m[2]))
	})
	return strings.ReplaceAll(text, "127.0.0.1:3307", "127.0.0.1:0")
}

func (g *guide) database(server, name string) string {
	g.t.Helper()
	database, ok := g.dbs[server+"/"+name]
	if !ok {
		g.t.Fatalf("the section names a database that the test does not make: %s at %s", name, server)
	}
	return database
}

// db connects to a database of the guide, by the document's names.
func (g *guide) db(server, name string) *sql.DB {
	g.t.Helper()
	return g.s.Open(g.t, g.database(server, name))
}

// sql runs a block on the databases that its first line names. N stands for what the last SELECT gave.
func (g *guide) sql(text string) {
	g.t.Helper()
	first, text, _ := strings.Cut(text, "\n")
	where, name, ok := strings.Cut(strings.TrimPrefix(first, "-- at "), ", ")
	if !ok || !strings.HasPrefix(first, "-- at ") {
		g.t.Fatalf("a block of SQL begins with %q, and not with the server and database", first)
	}
	text = regexp.MustCompile(`\bN\b`).ReplaceAllString(text, fmt.Sprint(g.number))
	for server := range strings.SplitSeq(where, " and ") {
		conn, err := g.db(server, name).Conn(g.t.Context())
		if err != nil {
			g.t.Fatal(err)
		}
		for statement := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
			g.statement(conn, strings.TrimSuffix(statement, ";"))
		}
		if err := conn.Close(); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *guide) statement(conn *sql.Conn, statement string) {
	g.t.Helper()
	rows, err := conn.QueryContext(g.t.Context(), statement)
	if err != nil {
		g.t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		g.t.Fatal(err)
	}
	for rows.Next() {
		to := make([]any, len(columns))
		for i := range to {
			to[i] = new(sql.RawBytes)
		}
		to[0] = &g.number
		if err := rows.Scan(to...); err != nil {
			g.t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := rows.Err(); err != nil {
		g.t.Fatalf("%s: %v", statement, err)
	}
}

var docClient = regexp.MustCompile(`-h (10\.0\.0\.\d|127\.0\.0\.1 -P 3307) -u app -psecret([^|]*?) (\w[\w:-]*)( orders)?(\s|$)`)

// shell runs a block of commands; the first that fails ends it. N at the end of a line stands for what the last SELECT gave.
func (g *guide) shell(text string) string {
	g.t.Helper()
	text = regexp.MustCompile(`(?m) N$`).ReplaceAllString(text, fmt.Sprint(" ", g.number))
	text = docClient.ReplaceAllStringFunc(g.real(text), func(call string) string {
		m := docClient.FindStringSubmatch(call)
		user, password, addr, database := "app", "secret", "", m[3]
		switch gate := strings.HasPrefix(m[1], "127"); {
		case gate && g.plain:
			user, password, addr, database = g.s.User, g.s.Password, g.gate.addr, g.database("10.0.0.1", m[3])
		case gate:
			addr = g.gate.addr
		default:
			user, password, addr, database = g.s.User, g.s.Password, g.s.Addr, g.database(m[1], m[3])
		}
		host, port, _ := strings.Cut(addr, ":")
		return fmt.Sprintf("-h %s -P %s -u %s --password=%s%s %s%s%s", host, port, user, password, m[2], database, m[4], m[5])
	})
	cmd := exec.CommandContext(g.t.Context(), "sh", "-e", "-c", text)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "PATH="+g.dir+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		g.t.Fatalf("%s\n%v\n%s", text, err, out.String())
	}
	return out.String()
}

// serve starts the seqgate of a block, and stops the one before.
func (g *guide) serve(text string) {
	g.t.Helper()
	g.stop()
	args := strings.Fields(strings.ReplaceAll(g.real(text), "'", ""))
	for i, arg := range args {
		if strings.HasSuffix(arg, ".yaml") {
			args[i] = filepath.Join(g.dir, arg)
		}
	}
	g.gate, g.plain = start(g.t, args[1:]...), strings.Contains(text, "--upstream")
}

// stop stops the seqgate in order, and reports whether it gave back what it had not used.
func (g *guide) stop() (handedBack bool) {
	g.t.Helper()
	if g.gate == nil {
		return true
	}
	g.gate.signal(g.t, os.Interrupt)
	if code := g.gate.exited(g.t); code != 0 {
		g.t.Errorf("seqgate ended with code %d", code)
	}
	handedBack = g.gate.handedBack()
	g.gate = nil
	return handedBack
}

// client is a program behind the seqgate, whose keyspace it names. Without users in its configuration, clients log in as
// the server's own and name the real database.
func (g *guide) client(user, password, keyspace string) *sql.DB {
	g.t.Helper()
	return openClient(g.t, user, password, g.gate.addr, keyspace)
}

// insert inserts a row without an id, and returns the id that it got.
func insert(t *testing.T, db *sql.DB, user int) int64 {
	t.Helper()
	r, err := db.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO orders (user_id, item) VALUES (%d, 'new')", user))
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
