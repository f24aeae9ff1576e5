package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seqgate/seqgate/internal/servertest"
)

// evil is what a name may have in it that is dangerous on a terminal, in a line of a log, in HTML or in a script.
const evil = "e\nlevel=ERROR\x1b[31m<script>alert(1)</script>\"'\u2028`"

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Names and texts of clients come to logs and pages so that they can be taken for nothing else, and passwords never do.
func TestHostileNames(t *testing.T) {
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	direct := s.Open(t, database)
	run1(t, direct, "CREATE TABLE "+quoted(evil)+" (id BIGINT PRIMARY KEY, v INT)",
		"CREATE TABLE "+quoted(evil+"_seq")+" (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		"INSERT INTO "+quoted(evil+"_seq")+" VALUES (0, 1, 10)")
	file := writeFile(t, "seqgate.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0", password: m4rker-admin}
users: [{name: app, password: m4rker-app}]
log: {level: debug, format: text, slow: 1ns}
keyspaces: {main: {shards: {"-": %q}}}
`, s.DSN(database)))
	var log bytes.Buffer
	outputs := hostileSession(t, file, &log)
	outputs["the log"] = log.String()
	checkLog(t, outputs["the log"])
	for what, text := range outputs {
		if strings.Contains(text, "m4rker") {
			t.Errorf("%s tells a password:\n%s", what, lineWith(text, "m4rker"))
		}
		isPage := strings.HasPrefix(text, "<!DOCTYPE html>")
		if isPage && strings.Contains(text, "<script>alert") {
			t.Errorf("%s has a script of a client's:\n%s", what, lineWith(text, "<script>alert"))
		}
		// Prometheus's text format escapes quotes, backslashes and ends of lines in labels, and nothing else.
		if what != "/metrics" && strings.ContainsFunc(text, isDangerous) || !utf8.ValidString(text) {
			t.Errorf("%s has control characters, or bytes that are no UTF-8: %q", what, lineWith(text, "\x1b"))
		}
	}
	if strings.Contains(outputs["/metrics"], "\nlevel=ERROR") {
		t.Error("a name begins a line of the metrics")
	}
	if !strings.Contains(outputs["/sequences"], `\u003cscript`) && !strings.Contains(outputs["/sequences"], "<script>") {
		t.Errorf("the hostile sequence is not among %s", outputs["/sequences"])
	}
}

func isDangerous(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

func lineWith(text, what string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, what) {
			return line
		}
	}
	return ""
}

// hostileSession has clients use hostile names everywhere, and gives what seqgate's pages show then.
func hostileSession(t *testing.T, file string, log *bytes.Buffer) map[string]string {
	t.Helper()
	p := start(t, "serve", "--config", file)
	admin := p.adminAddr(t)
	db := openClient(t, "app", "m4rker-app", p.addr, "main")
	run1(t, db, "INSERT INTO "+quoted(evil)+" (v) VALUES (1)")
	for _, sql := range []string{
		"USE " + quoted(evil), "SELECT '" + strings.ReplaceAll(evil, "'", "''") + "' FROM", "SELECT NEXT VALUE FROM " + quoted("no"+evil),
		"SELECT * FROM " + quoted("no"+evil), "CREATE SEQUENCE " + quoted(evil+"2"), "SELECT 1 /* \x1b[31m\xff\x00 */", "\x1b\xff\x00",
		"INSERT INTO " + quoted(evil) + " VALUES (NULL, '" + "\x1b\xff')",
	} {
		_, _ = db.ExecContext(t.Context(), sql) // most fail
	}
	for _, login := range [][3]string{{evil, "m4rker-wrong", "main"}, {"\xff\xfe", "m4rker-wrong", "main"}, {"app", "m4rker-wrong", evil}, {"app", "m4rker-app", evil}} {
		_ = openClient(t, login[0], login[1], p.addr, login[2]).PingContext(t.Context()) // refused
	}
	if c, err := net.Dial("tcp", p.addr); err == nil { // no handshake response at all
		_, _ = c.Write([]byte("\x05\x00\x00\x01\x1b[31m"))
		_ = c.Close()
	}
	outputs := make(map[string]string)
	for _, page := range []string{"/", "/sequences", "/sessions", "/vschema", "/metrics", "/" + "%1b%3Cscript%3Ealert(1)%3C/script%3E"} {
		_, outputs[page] = ask(t, admin, page, "m4rker-admin")
	}
	awaitThat(t, "the log of all clients", func() bool { return p.Logged("alert(1)") })
	log.WriteString(p.Log())
	return outputs
}

// checkLog holds that each line of a log is one record.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("no record: %q", line)
		}
	}
}
