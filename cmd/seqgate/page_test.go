package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seqgate/seqgate/internal/browsertest"
	"github.com/seqgate/seqgate/internal/servertest"
)

// TestStatusPage looks at the pages of a real seqgate under load.
func TestStatusPage(t *testing.T) {
	s := servertest.First(t)
	addr, db := serveMeasured(t, s, `admin: {listen: "127.0.0.1:0", password: s3cret}`)
	t.Run("password", func(t *testing.T) {
		for path, want := range map[string]int{"/": 401, "/metrics": 401, "/sequences": 401, "/livez": 200, "/readyz": 200} {
			if got, _ := ask(t, addr, path, ""); got != want {
				t.Errorf("%s without a password: got %d, want %d", path, got, want)
			}
		}
	})
	t.Run("pages", func(t *testing.T) {
		for path, wants := range map[string][]string{
			"/":        {"users_seq", "flake", "twitter", "msg_seq", s.Addr, ">ready<", "of 2\u202f147\u202f483\u202f647"}, // id is an INT
			"/vschema": {"users_seq", "main.flake", "seq_no by user_id", s.Addr},
		} {
			status, body := ask(t, addr, path, "s3cret")
			for _, want := range wants {
				if !strings.Contains(body, want) {
					t.Errorf("%s (%d) has no %q:\n%s", path, status, want, body)
				}
			}
		}
	})
	t.Run("sessions", func(t *testing.T) { testSessionsPage(t, s, addr, db) })
	t.Run("browser", func(t *testing.T) {
		page := browsertest.Start(t).Open(t, 1280, 800)
		defer insertUsers(t, db)()
		page.Goto("http://operator:s3cret@" + addr + "/")
		const ids = `Number(document.querySelectorAll("#tiles .detail")[4].textContent.replaceAll(/\D/g, ""))`
		first := page.Number(ids)
		page.Wait(fmt.Sprintf("%s > %v", ids, first+1))
		page.Wait(`document.querySelector("#tiles .tile:nth-child(5) .value").textContent !== "0"`)
		page.Do(chromedp.Navigate("http://" + addr + "/sessions")) // by the password that the browser has
		if n := page.Shown("tbody tr"); n == 0 {
			t.Error("no session is shown")
		}
		for _, problem := range page.Problems() {
			t.Error(problem)
		}
	})
}

// testSessionsPage holds that a session is shown with what it does, and nothing of what its statement says.
func testSessionsPage(t *testing.T, s *servertest.Server, addr string, db *sql.DB) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { // it is cut off
		_, _ = db.ExecContext(ctx, "SELECT SLEEP(60) /* top-secret-value */")
	})
	deadline := time.After(30 * time.Second)
	for {
		_, body := ask(t, addr, "/sessions", "s3cret")
		if strings.Contains(body, "top-secret-value") || strings.Contains(body, "s3cret") {
			t.Fatalf("the page tells what a statement says, or a password:\n%s", body)
		}
		if strings.Contains(body, ">Query<") && strings.Contains(body, ">"+s.User+"<") {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the page does not show the statement under way:\n%s", body)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// insertUsers inserts rows until stop is called.
func insertUsers(t *testing.T, db *sql.DB) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if _, err := db.ExecContext(ctx, "INSERT INTO users (n) VALUES (1)"); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-time.After(5 * time.Millisecond): // the rate of the load
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// ask gives what the admin address answers to somebody with this password, or without one.
func ask(t *testing.T, addr, path, password string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	if password != "" {
		r.SetBasicAuth("operator", password)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
