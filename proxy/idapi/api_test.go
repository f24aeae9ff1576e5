package idapi_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func TestRuns(t *testing.T) {
	f := newFixture(t, options{})
	for _, tt := range []struct {
		path string
		want answer
	}{
		{"main.user_seq/next", answer{Sequence: "main.user_seq", First: "1001", Last: "1001", N: 1, Increment: 1}},
		{"user_seq/next?n=10", answer{Sequence: "main.user_seq", First: "1002", Last: "1011", N: 10, Increment: 1}},
		{"main.user_seq/next?n=5", answer{Sequence: "main.user_seq", First: "1012", Last: "1016", N: 5, Increment: 1}},
	} {
		status, got := f.get("/api/v1/sequences/" + tt.path)
		if diff := cmp.Diff(tt.want, got); status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-want +got)\n%s", tt.path, status, diff)
		}
	}
}

func TestLists(t *testing.T) {
	f := newFixture(t, options{})
	for _, tt := range []struct {
		name   string
		n      int
		length int // of each id
	}{{"main.u", 3, 36}, {"o", 1, 24}, {"flake", 5000, 0}} {
		status, got := f.get("/api/v1/sequences/" + tt.name + "/next?n=" + strconv.Itoa(tt.n))
		if status != http.StatusOK || len(got.IDs) != tt.n || got.First != "" || got.N != int64(tt.n) {
			t.Fatalf("%s: %d, %d ids from %q, want %d in a list: %v", tt.name, status, len(got.IDs), got.First, tt.n, got.Error)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(got.IDs)))
		if len(distinct) != tt.n {
			t.Errorf("%s: %d of %d ids differ", tt.name, len(distinct), tt.n)
		}
		if tt.length > 0 && len(got.IDs[0]) != tt.length {
			t.Errorf("%s: %q has not %d characters", tt.name, got.IDs[0], tt.length)
		}
	}
	status, got := f.get("/api/v1/sequences/flake/next?n=4096")
	if first, err := strconv.ParseInt(got.First, 10, 64); status != http.StatusOK || err != nil || got.Last != strconv.FormatInt(first+4095, 10) {
		t.Errorf("a run of a snowflake: %d, %+v", status, got)
	}
}

func TestFaults(t *testing.T) {
	f := newFixture(t, options{tokens: []idapi.Token{
		{Name: "app", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"main.user*", "main.u", "main.flake", "other.*"}},
		{Name: "all", Hash: sha256.Sum256([]byte("all")), Sequences: []string{"*"}},
	}, maxN: 20_000})
	const seq = "/api/v1/sequences/"
	for _, tt := range []struct {
		method, path, token string
		status              int
		code, text          string
		errno               uint16
	}{
		{"GET", seq + "user_seq/next?n=0", secret, 400, "bad_request", "from 1 to 20000", 1210},
		{"GET", seq + "user_seq/next?n=-5", secret, 400, "bad_request", "from 1 to 20000", 1210},
		{"GET", seq + "user_seq/next?n=20001", secret, 400, "bad_request", "from 1 to 20000", 1210},
		{"GET", seq + "user_seq/next?n=9223372036854775808", secret, 400, "bad_request", "from 1 to 20000", 1210},
		{"GET", seq + "user_seq/next?n=", secret, 400, "bad_request", "from 1 to 20000", 1210},
		{"GET", seq + "user_seq/next?n=1&n=2", secret, 400, "bad_request", "given twice", 1210},
		{"GET", seq + "user_seq/next?count=2", secret, 400, "bad_request", "no parameter", 1210},
		{"GET", seq + "user_seq/next?n=%zz", secret, 400, "bad_request", "cannot be read", 1210},
		{"GET", seq + "user_seq/next?key=" + strings.Repeat("k", 5000), secret, 400, "bad_request", "too long", 1210},
		{"GET", seq + "user_seq/next?key=k", secret, 400, "bad_request", "no keyed sequences", 1210},
		{"GET", seq + "flake/next?key=k", secret, 400, "bad_request", "leave the key out", 1210},
		{"GET", seq + "u/next?n=20000", secret, 400, "bad_request", "10000 at most", 1210},
		{"GET", seq + "user_seq/next", "", 401, "unauthorized", "Authorization: Bearer", 1045},
		{"GET", seq + "user_seq/next", "wrong", 401, "unauthorized", "Authorization: Bearer", 1045},
		{"GET", seq + "secret_seq/next", secret, 404, "unknown_sequence", "write one of main.flake", 1146}, // there is no other.secret_seq
		{"GET", seq + "main.secret_seq/next", secret, 403, "forbidden", "ids of main.secret_seq", 1142},
		{"GET", seq + "main.nothing_seq/next", secret, 403, "forbidden", "ids of main.nothing_seq: write one of main.flake", 1142},
		{"GET", seq + "user_sq/next", secret, 404, "unknown_sequence", `did you mean "user_seq"?`, 1146},
		{"GET", seq + "main.usr_seq/next", secret, 403, "forbidden", `did you mean "main.user_seq"?`, 1142},
		{"GET", seq + "main.usr_seq/next", "all", 404, "unknown_sequence", `did you mean "main.user_seq"?`, 1146},
		{"GET", seq + "both/next", "all", 400, "bad_request", "write one of main.both, other.both", 1052},
		{"GET", seq + "other.zzzzzzzzz/next", secret, 404, "unknown_sequence", "write one of main.flake, main.u, main.user_seq, other.both, other.lonely_seq", 1146},
		{"GET", "/api/v1/sequences", secret, 404, "not_found", "openapi.yaml", 0},
		{"GET", "/", "", 404, "not_found", "openapi.yaml", 0},
		{"DELETE", seq + "user_seq/next", secret, 405, "method_not_allowed", "GET or POST", 0},
		{"PUT", "/api/v1/openapi.yaml", secret, 405, "method_not_allowed", "use GET", 0},
	} {
		w := f.request(tt.method, tt.path, tt.token)
		got := decode(t, w).Error
		if w.Code != tt.status || got.Code != tt.code || got.Errno != tt.errno || !strings.Contains(got.Message, tt.text) {
			t.Errorf("%s %.60s: %d %+v, want %d %s %d with %q", tt.method, tt.path, w.Code, got, tt.status, tt.code, tt.errno, tt.text)
		}
		if strings.Contains(got.Message, "secret_seq") && !strings.Contains(tt.path, "secret_seq") {
			t.Errorf("%s names a sequence that the token may not use: %s", tt.path, got.Message)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be cached", tt.path)
		}
	}
	w := f.request(http.MethodHead, seq+"user_seq/next", secret)
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, POST" {
		t.Errorf("HEAD: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	if got := f.request(http.MethodGet, seq+"user_seq/next", "").Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer") {
		t.Errorf("WWW-Authenticate is %q", got)
	}
	if n := len(f.store.Requests()); n != 0 {
		t.Errorf("%d blocks were reserved for requests that got nothing", n)
	}
}

// What a token may not use is denied in the same words whether or not it is there, and nobody is asked for it.
func TestDeniedTellsNothing(t *testing.T) {
	f := newFixture(t, options{away: errors.New("away"), tokens: []idapi.Token{
		{Name: "app", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"main.user_seq", "main.both"}},
	}})
	for _, name := range []string{"%s", "main.%s", "other.%s"} {
		var answers []string
		for _, of := range []string{"lonely_seq", "lonedy_seq"} {
			w := f.request(http.MethodGet, "/api/v1/sequences/"+fmt.Sprintf(name, of)+"/next", secret)
			answers = append(answers, strconv.Itoa(w.Code)+strings.ReplaceAll(w.Body.String(), of, "NAME"))
		}
		if answers[0] != answers[1] || !strings.HasPrefix(answers[0], "403") {
			t.Errorf("%s:\n%s%s", name, answers[0], answers[1])
		}
	}
	if status, got := f.get("/api/v1/sequences/both/next"); status != http.StatusOK || got.Sequence != "main.both" {
		t.Errorf("a name that another keyspace has, too, where the token may not use it: %d %+v", status, got)
	}
	there := f.request(http.MethodGet, "/api/segment/get/order-tag", secret)
	if away := f.request(http.MethodGet, "/api/segment/get/order-tug", secret); there.Code != 403 || away.Code != 403 {
		t.Errorf("Leaf's path: %d %s, %d %s", there.Code, there.Body, away.Code, away.Body)
	}
}

func TestBodyRefused(t *testing.T) {
	f := newFixture(t, options{})
	for body, want := range map[string]int{"n=10": http.StatusBadRequest, "": http.StatusOK} {
		q := httptest.NewRequest(http.MethodPost, "/api/v1/sequences/user_seq/next?n=2", strings.NewReader(body))
		q.Header.Set("Authorization", "bearer "+secret)
		w := httptest.NewRecorder()
		if f.api.ServeHTTP(w, q); w.Code != want {
			t.Errorf("body %q: %d %s, want %d", body, w.Code, w.Body, want)
		}
	}
}

func TestTokens(t *testing.T) {
	f := newFixture(t, options{tokens: []idapi.Token{
		{Name: "app", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"main.user_seq"}},
		{Name: "everybody", Anonymous: true, Sequences: []string{"other.*"}},
		{Name: "nobody", Sequences: []string{"*"}}, // without a hash
		{Name: "empty", Hash: sha256.Sum256(nil), Sequences: []string{"*"}},
	}})
	for _, tt := range []struct {
		name, header, path string
		status             int
	}{
		{"bearer", "Bearer " + secret, "main.user_seq", 200},
		{"bearer, another sequence", "Bearer " + secret, "lonely_seq", 403},
		{"basic", basic("any", secret), "main.user_seq", 200},
		{"basic, wrong", basic("app", "wrong"), "main.user_seq", 401},
		{"none", "", "lonely_seq", 200},
		{"none, another sequence", "", "main.user_seq", 403},
		{"empty bearer is not anonymous", "Bearer ", "lonely_seq", 401},
		{"wrong one is not anonymous", "Bearer x", "lonely_seq", 401},
		{"unknown scheme", "Digest x", "lonely_seq", 401},
		{"name alone", "Bearer nobody", "lonely_seq", 401},
	} {
		q := httptest.NewRequest(http.MethodGet, "/api/v1/sequences/"+tt.path+"/next", nil)
		if tt.header != "" {
			q.Header.Set("Authorization", tt.header)
		}
		w := httptest.NewRecorder()
		if f.api.ServeHTTP(w, q); w.Code != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, w.Code, w.Body, tt.status)
		}
	}
	want := []idapi.Count{{"", 401, 5, 0}, {"app", 200, 2, 2}, {"app", 403, 1, 0}, {"everybody", 200, 1, 1}, {"everybody", 403, 1, 0}}
	if diff := cmp.Diff(want, f.api.Counts()); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
}

// Tokens change while requests come: one that is gone counts no more, and one that stays has used up what it had.
func TestSetTokens(t *testing.T) {
	old := idapi.Token{Name: "old", Hash: sha256.Sum256([]byte("old")), Sequences: []string{"*"}}
	slow := idapi.Token{Name: "slow", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"main.*"}, Rate: 0.001}
	f := newFixture(t, options{tokens: []idapi.Token{old, slow}})
	status := func(token, name string) int {
		return f.request(http.MethodGet, "/api/v1/sequences/"+name+"/next", token).Code
	}
	if got := status("old", "user_seq"); got != http.StatusOK {
		t.Errorf("the old one: %d", got)
	}
	if got := status(secret, "user_seq"); got != http.StatusOK {
		t.Errorf("the slow one: %d", got)
	}
	slow.Sequences = []string{"other.*"}
	f.api.SetTokens([]idapi.Token{slow, {Name: "new", Hash: sha256.Sum256([]byte("new")), Sequences: []string{"main.*"}}})
	for token, want := range map[string]int{"old": 401, secret: 429, "new": 200} {
		if got := status(token, "user_seq"); got != want {
			t.Errorf("%s: %d, want %d", token, got, want)
		}
	}
	slow.Rate = 0
	f.api.SetTokens([]idapi.Token{slow})
	for name, want := range map[string]int{"main.user_seq": 403, "lonely_seq": 200} {
		if got := status(secret, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func basic(user, password string) string {
	q := httptest.NewRequest(http.MethodGet, "/", nil)
	q.SetBasicAuth(user, password)
	return q.Header.Get("Authorization")
}

func TestRate(t *testing.T) {
	f := newFixture(t, options{tokens: []idapi.Token{
		{Name: "slow", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"*"}, Rate: 0.001},
		{Name: "seldom", Hash: sha256.Sum256([]byte("seldom")), Sequences: []string{"*"}, Rate: 1e-12},
		{Name: "fast", Hash: sha256.Sum256([]byte("other")), Sequences: []string{"*"}},
	}})
	if status, _ := f.get("/api/v1/sequences/user_seq/next"); status != http.StatusOK {
		t.Errorf("the first: %d", status)
	}
	w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next", secret)
	wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
	if got := decode(t, w).Error; w.Code != http.StatusTooManyRequests || got.Code != "rate_limited" || err != nil || wait < 900 || wait > 1000 {
		t.Errorf("the second: %d %+v, Retry-After %d (%v)", w.Code, got, wait, err)
	}
	first := true
	for range 3 {
		w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next", "seldom")
		if w.Code == http.StatusOK && !first || w.Code != http.StatusOK && w.Header().Get("Retry-After") != "86400" {
			t.Errorf("a rate near none: %d, Retry-After %s", w.Code, w.Header().Get("Retry-After"))
		}
		first = false
	}
	if w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next", "other"); w.Code != http.StatusOK {
		t.Errorf("another token: %d", w.Code)
	}
}

// A sequence without ids, one that ends, and a seqgate that stops.
func TestNoIDs(t *testing.T) {
	away := sequencetest.NewStore(1, 10)
	away.Before = func(context.Context, sequence.Request) error { return errors.New("away") }
	for _, tt := range []struct {
		name       string
		store      *sequencetest.Store
		status     int
		code       string
		errno      uint16
		retryAfter string
		timeout    time.Duration
	}{
		{"away", away, 503, "unavailable", 1205, "1", 50 * time.Millisecond},
		{"used up", sequencetest.NewStore(math.MaxInt64, 10), 500, "exhausted", 1467, "", 0},
		{"without a row", &sequencetest.Store{}, 500, "broken_sequence", 1467, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, options{store: tt.store, timeout: tt.timeout})
			w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next?n=2", secret)
			if got := decode(t, w).Error; w.Code != tt.status || got.Code != tt.code || got.Errno != tt.errno || w.Header().Get("Retry-After") != tt.retryAfter {
				t.Errorf("%d %+v, Retry-After %q", w.Code, got, w.Header().Get("Retry-After"))
			}
			if w := f.request(http.MethodGet, "/api/segment/get/user_seq", secret); w.Code != 500 && tt.name != "used up" {
				t.Errorf("Leaf's path: %d %s, want 500", w.Code, w.Body)
			}
		})
	}
	denied := &mysql.MySQLError{Number: 1045, SQLState: [5]byte{'2', '8', '0', '0', '0'}, Message: "Access denied for user 'app'@'localhost' (using password: YES)"}
	for _, away := range []error{errors.New("away"), denied} {
		f := newFixture(t, options{away: away})
		w := f.request(http.MethodGet, "/api/v1/sequences/not_declared/next", secret)
		if got := decode(t, w).Error; w.Code != 503 || got.Code != "unavailable" || strings.Contains(w.Body.String(), "localhost") {
			t.Errorf("a name that nobody can be asked for, %v: %d %+v", away, w.Code, got)
		}
	}
}

// Until load balancers have noticed that others are to be asked, ids are given as before.
func TestRetired(t *testing.T) {
	f := newFixture(t, options{})
	f.proxy.Retire()
	w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next", secret)
	if got := decode(t, w); w.Code != http.StatusOK || got.First != "1001" || w.Header().Get("Connection") != "close" {
		t.Errorf("%d %+v, Connection %q", w.Code, got, w.Header().Get("Connection"))
	}
}

func TestDraining(t *testing.T) {
	f := newFixture(t, options{})
	if err := f.proxy.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next", secret)
	if got := decode(t, w).Error; w.Code != 503 || got.Code != "draining" || got.Errno != 1053 || w.Header().Get("Retry-After") == "" ||
		w.Header().Get("Connection") != "close" {
		t.Errorf("%d %+v %v", w.Code, got, w.Header())
	}
}

// Who leaves before the answer, leaves a gap at most: nobody else gets those ids.
func TestDisconnect(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	store := sequencetest.NewStore(1, 10)
	store.Before = func(context.Context, sequence.Request) error {
		leave() // while the server is asked
		return nil
	}
	f := newFixture(t, options{store: store})
	q := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/sequences/user_seq/next?n=3", nil)
	q.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, q)
	seen := make(map[int64]bool)
	if w.Code != http.StatusServiceUnavailable { // the ids came before it was seen that nobody waits
		first, err := strconv.ParseInt(decode(t, w).First, 10, 64)
		if w.Code != http.StatusOK || err != nil {
			t.Fatalf("%d %s (%v)", w.Code, w.Body, err)
		}
		for id := range int64(3) {
			seen[first+id] = true
		}
	}
	for range 20 {
		status, got := f.get("/api/v1/sequences/user_seq/next?n=3")
		first, err := strconv.ParseInt(got.First, 10, 64)
		if err != nil {
			t.Fatalf("%d %+v", status, got)
		}
		for id := range int64(3) {
			if seen[first+id] {
				t.Fatalf("id %d came twice", first+id)
			}
			seen[first+id] = true
		}
	}
}

// A client that has closed its half of the connection reads on: it is told what is wrong.
func TestHalfClosed(t *testing.T) {
	held := make(chan struct{})
	store := sequencetest.NewStore(1, 10)
	store.Before = func(ctx context.Context, _ sequence.Request) error {
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f := newFixture(t, options{store: store})
	server := httptest.NewServer(f.api)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(held) })
	for token, want := range map[string]int{secret: http.StatusServiceUnavailable, "nobody-nobody-nobody": http.StatusUnauthorized} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /api/v1/sequences/main.user_seq/next HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", token)
		if err := errors.Join(c.(*net.TCPConn).CloseWrite(), c.SetReadDeadline(time.Now().Add(30*time.Second))); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); answer.StatusCode != want || err != nil || !strings.Contains(string(body), `"message"`) {
			t.Errorf("%s: %s %q (%v), want %d", token, answer.Status, body, err, want)
		}
	}
	// Also where the request had ended before it was looked at.
	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/sequences/main.user_seq/next", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d %q", w.Code, w.Body)
	}
	if n := len(f.api.Counts()); n != 2 {
		t.Errorf("%d kinds of answers are counted, want 2: %v", n, f.api.Counts())
	}
}

// HTTP requests at once, and others who take ids of the same sequence, get each id once.
func TestTogether(t *testing.T) {
	f := newFixture(t, options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := make(map[int64]int)
	note := func(first, n int64) {
		mu.Lock()
		defer mu.Unlock()
		for id := range n {
			seen[first+id]++
		}
	}
	for range 4 {
		all.Go(func() {
			for range 100 {
				w := f.request(http.MethodGet, "/api/v1/sequences/user_seq/next?n=7", secret)
				first, err := strconv.ParseInt(decode(t, w).First, 10, 64)
				if err != nil {
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
				note(first, 7)
			}
		})
		all.Go(func() { // as a session does
			for range 100 {
				seq, err := f.sequences.Get(sequence.Name{Keyspace: "main", Database: "main", Table: "user_seq"})
				if err != nil {
					t.Error(err)
					return
				}
				r, err := seq.Next(t.Context(), 3)
				if err != nil {
					t.Error(err)
					return
				}
				note(r.First, 3)
			}
		})
	}
	all.Wait()
	if len(seen) != 4000 {
		t.Errorf("%d different ids, want 4000", len(seen))
	}
}
