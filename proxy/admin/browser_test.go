package admin

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seqgate/seqgate/internal/browsertest"
	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/shapes"
	"github.com/seqgate/seqgate/sequence"
)

var screenshots = flag.Bool("screenshots", false, "make the pictures of the pages in docs/images")

// TestPagesInBrowser opens the pages of a made-up seqgate in one browser.
func TestPagesInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	var made shop
	const password = "bö:se \"pw\""
	cfg := made.config(t)
	server := httptest.NewServer(Guard(password, New(cfg)))
	t.Cleanup(server.Close)
	as := func(password, path string) string {
		address := strings.Replace(server.URL, "http://", "http://operator:"+password+"@", 1)
		return address + path
	}
	const right = "b%C3%B6%3Ase%20%22pw%22"
	t.Run("charts and numbers", func(t *testing.T) {
		page := browser.Open(t, 1280, 900)
		page.Goto(as(right, "/"))
		page.Wait(`document.querySelectorAll("#charts svg .trace").length === 7`)
		page.Wait(`document.querySelectorAll(".spark svg .trace").length === 3`)
		if n := page.Number(`document.querySelector("#charts .trace").getAttribute("d").split("L").length`); n != historyPoints-40 {
			t.Errorf("got a line of %v points, want %d", n, historyPoints-40)
		}
		const statements = `Number(document.querySelectorAll("#tiles .value")[2].textContent.replaceAll(/\D/g, ""))`
		before := page.Number(statements)
		for range 30 {
			made.pass()
		}
		page.Wait(statements + " > " + "2 * " + itoa(before))
		cfg.History.sample(time.Now())
		page.Wait(`(hour = null, document.querySelector("#charts .trace").getAttribute("d").split("L").length === ` + itoa(historyPoints-39) + `)`)
		checkProblems(t, page)
	})
	t.Run("wrong password", func(t *testing.T) {
		page := browser.Open(t, 800, 600)
		if err := page.Try(chromedp.Navigate(as("wrong", "/"))); err != nil && !strings.Contains(err.Error(), "ERR_INVALID_AUTH_CREDENTIALS") {
			t.Errorf("with a wrong password: %v", err)
		}
		if n := page.Shown("table, section"); n != 0 {
			t.Errorf("with a wrong password %d parts of the page are shown", n)
		}
	})
	t.Run("phone", func(t *testing.T) {
		page := browser.Open(t, 375, 700)
		for _, path := range []string{"/", "/sessions", "/statements", "/vschema"} {
			page.Goto(as(right, path))
			if w := page.Number(`document.documentElement.scrollWidth`); w != 375 {
				t.Errorf("%s is %v pixels wide, want 375", path, w)
			}
			checkProblems(t, page)
		}
	})
	t.Run("numbers on one line", func(t *testing.T) {
		for _, width := range []int64{390, 900, 1170, 1440} {
			page := browser.Open(t, width, 900)
			const broken = `[...document.querySelectorAll(".number, .tile .value")].filter((cell) => {
				const text = document.createRange();
				text.selectNodeContents(cell.firstChild);
				return new Set([...text.getClientRects()].map((r) => r.top)).size > 1;
			}).length`
			for _, path := range []string{"/", "/statements"} {
				page.Goto(as(right, path))
				if n := page.Number(broken); n != 0 {
					t.Errorf("%s at %d pixels: %v numbers are broken", path, width, n)
				}
				if w := page.Number(`document.documentElement.scrollWidth`); w > float64(width) {
					t.Errorf("%s is %v pixels wide, want %d", path, w, width)
				}
			}
		}
	})
	t.Run("young process", func(t *testing.T) {
		young := (&shop{}).config(t)
		young.History = NewHistory(young.Traffic, young.Sequences)
		for i := range 3 {
			young.History.sample(time.Now().Add(time.Duration(i+1) * historyStep))
		}
		server := httptest.NewServer(New(young))
		defer server.Close()
		page := browser.Open(t, 1280, 900)
		page.Goto(server.URL)
		page.Wait(`document.querySelector("#charts .tick:nth-of-type(2)").textContent === "5 min ago"`)
	})
	t.Run("without scripts", func(t *testing.T) {
		page := browser.Open(t, 1280, 900)
		page.NoScripts()
		for path, tables := range map[string]int{"/": 4, "/sessions": 1, "/statements": 2, "/vschema": 3} {
			page.Goto(as(right, path))
			if got := page.Shown("tbody tr:first-child"); got != tables {
				t.Errorf("%s shows %d tables without scripts, want %d", path, got, tables)
			}
			if got := page.Shown("#charts"); got != 0 {
				t.Errorf("%s shows the charts that only scripts draw", path)
			}
		}
		checkProblems(t, page)
	})
	t.Run("seqgate gone", func(t *testing.T) {
		gone := httptest.NewServer(New(Config{}))
		defer gone.Close()
		page := browser.Open(t, 800, 600)
		page.Goto(gone.URL)
		if page.Shown("#lost") != 0 {
			t.Error("the page says that seqgate is gone")
		}
		gone.CloseClientConnections()
		gone.Close()
		page.Wait(`!document.getElementById("lost").hidden && document.getElementById("lost").textContent.includes("does not answer")`)
		page.Wait(`document.title.startsWith("no answer") && document.getElementById("lost").textContent.includes("UTC") &&
			getComputedStyle(document.querySelector("main")).filter === "grayscale(1)"`)
	})
	t.Run("hostile names", func(t *testing.T) { testHostileNames(t, browser) })
	if *screenshots {
		shoot(t, browser)
	}
}

// testHostileNames shows what is from outside: names of the vschema, of clients and of servers, and errors.
func testHostileNames(t *testing.T, browser *browsertest.Browser) {
	const hostile = `<script>document.title="owned"</script><img src=x onerror='document.title="owned"'>"'` + "`{{.}}"
	long := strings.Repeat("W", 64)
	cfg := (&shop{}).config(t)
	cfg.Version = hostile
	cfg.Sequences = func() []sequence.Status {
		return []sequence.Status{{Name: sequence.Name{Keyspace: hostile, Database: long, Table: long + hostile}, Strategy: hostile,
			Server: hostile, LastError: errors.New(hostile + long + long), Refills: 1}}
	}
	cfg.Generators = func() []GeneratorStatus {
		return []GeneratorStatus{{Keyspace: hostile, Name: long, Layout: hostile, From: hostile, Err: errors.New(hostile)}}
	}
	cfg.Servers = []Server{{hostile, hostile, hostile, long}, {"customer", long, long, long}}
	cfg.Health = func() []health.Status {
		return []health.Status{{Keyspace: "customer", Shard: "-80", Addr: long, State: health.Down, Version: hostile, Err: errors.New(hostile + long + long)}}
	}
	cfg.Sessions = func(context.Context, int) ([]Session, int, error) {
		return []Session{{User: hostile, Host: long, Keyspace: hostile, Database: hostile, Command: hostile, Time: hostile, State: hostile}}, 1, errors.New(hostile)
	}
	cfg.Statements = func() ([]shapes.Count, shapes.Count, []shapes.Slow) {
		return []shapes.Count{{User: hostile, Keyspace: long, Text: hostile + long}}, shapes.Count{}, []shapes.Slow{{User: long, Text: hostile, Shards: long + hostile}}
	}
	cfg.History.sequences = cfg.Sequences
	made := cfg.History
	made.sample(made.latest.at.Add(historyStep))
	made.sample(made.latest.at.Add(historyStep))
	server := httptest.NewServer(Guard("", New(cfg)))
	t.Cleanup(server.Close)
	page := browser.Open(t, 375, 700)
	for _, path := range []string{"/", "/sessions", "/statements", "/vschema"} {
		page.Goto(server.URL + path)
		if path == "/" {
			page.Wait(`document.querySelector(".spark svg")`)
		}
		if n := page.Number(`document.querySelectorAll("main script, main img").length + (document.title.startsWith("seqgate") ? 0 : 100)`); n != 0 {
			t.Errorf("%s has elements of a name", path)
		}
		if w := page.Number(`document.documentElement.scrollWidth`); w != 375 {
			t.Errorf("%s is %v pixels wide, want 375", path, w)
		}
	}
	checkProblems(t, page)
}

func checkProblems(t *testing.T, page *browsertest.Page) {
	t.Helper()
	for _, problem := range page.Problems() {
		t.Error(problem)
	}
}

// shoot makes the pictures of the documentation.
func shoot(t *testing.T, browser *browsertest.Browser) {
	server := httptest.NewServer(New((&shop{}).config(t)))
	t.Cleanup(server.Close)
	for _, s := range []struct {
		file, path    string
		dark          bool
		width, height int64
	}{
		{"status-page.png", "/", false, 1280, 880},
		{"status-page-vschema.png", "/vschema", false, 900, 520},
		{"status-page-phone.png", "/", true, 375, 812},
	} {
		page := browser.Open(t, s.width, s.height)
		if s.dark {
			page.Dark()
		}
		page.Goto(server.URL + s.path)
		if s.path == "/" {
			page.Wait(`document.querySelectorAll("#charts svg .trace").length === 7`)
		}
		picture := page.Picture()
		if decoded, err := png.Decode(bytes.NewReader(picture)); err == nil {
			picture = small(t, decoded)
		}
		if len(picture) > 150<<10 {
			t.Errorf("%s has %d bytes, want 150 KB at most", s.file, len(picture))
		}
		if err := os.WriteFile(filepath.Join("../../docs/images", s.file), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// small encodes a picture with all effort.
func small(t *testing.T, picture image.Image) []byte {
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func itoa(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
