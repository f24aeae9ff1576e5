package idapi_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/proxy/idapi"
)

// fuzzMaxN is how many ids a fuzzed request may ask for: so its answer is bounded.
const fuzzMaxN = 100

// Whatever a client sends: no panic, no id for one without the token, no id twice, no 500 but on Leaf's paths, whose
// contract that is, and answers that are bounded, not kept, and well-formed.
func FuzzAPI(f *testing.F) {
	for _, request := range apiSeeds() {
		f.Add([]byte(request))
	}
	fix := newFixture(f, options{maxN: fuzzMaxN, tokens: []idapi.Token{
		{Name: "app", Hash: sha256.Sum256([]byte(secret)), Sequences: []string{"main.user*", "main.flake", "main.u", "other.*"}},
	}})
	seen := make(map[string]int64) // the last id of each name
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // net/http's server answers it
		}
		if q.RequestURI == "*" {
			return // and this, of the server as a whole
		}
		w := httptest.NewRecorder()
		fix.api.ServeHTTP(w, q)
		checkHeaders(t, q, w)
		if most := 16<<10 + 8*len(raw); w.Body.Len() > most && q.URL.Path != "/api/v1/openapi.yaml" {
			t.Errorf("%d bytes are answered to a request of %d", w.Body.Len(), len(raw))
		}
		if given := w.Code == http.StatusOK && q.URL.Path != "/api/v1/openapi.yaml"; given && !bearsSecret(q) {
			t.Errorf("an answer without the token: %s", w.Body)
		}
		if w.Header().Get("Content-Type") == "application/json" {
			checkAnswer(t, w, seen)
		}
	})
}

// apiSeeds are requests for all that the API has, well formed and not.
func apiSeeds() (all []string) {
	const token = "Authorization: Bearer " + secret + "\r\n"
	basic := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("any:"+secret)) + "\r\n"
	for _, target := range []string{
		"/api/v1/sequences/main.user_seq/next", "/api/v1/sequences/user_seq/next?n=10", "/api/v1/sequences/flake/next?n=100", "/api/v1/sequences/u/next?n=3",
		"/api/v1/sequences/user_seq/next?n=0", "/api/v1/sequences/user_seq/next?n=-1", "/api/v1/sequences/user_seq/next?n=9223372036854775808",
		"/api/v1/sequences/user_seq/next?n=1&n=2", "/api/v1/sequences/user_seq/next?n=%zz", "/api/v1/sequences/user_seq/next?key=k&n=2",
		"/api/v1/sequences/user_seq/next?count=2", "/api/v1/sequences/both/next", "/api/v1/sequences/main.secret_seq/next", "/api/v1/sequences/lonely_seq/next",
		"/api/v1/sequences/%3Cscript%3E%22/next", "/api/v1/sequences/%ff%00/next", "/api/v1/sequences/a%2Fb/next", "/api/v1/sequences//next", "/api/v1/sequences/../next",
		"/api/v1/openapi.yaml", "/api/segment/get/order-tag", "/api/segment/get/user_seq", "/api/segment/get/%3Cb%3E", "/api/snowflake/get/any", "/",
		"http://elsewhere/api/v1/sequences/user_seq/next", "/api/v1/sequences/user_seq/next?" + strings.Repeat("n", 5000),
	} {
		for _, method := range []string{"GET", "POST"} {
			all = append(all, method+" "+target+" HTTP/1.1\r\nHost: x\r\n"+token+"\r\n")
		}
	}
	const target = " /api/v1/sequences/user_seq/next HTTP/1.1\r\nHost: x\r\n"
	for _, headers := range []string{"", basic, "Authorization: Bearer wrong\r\n", "Authorization: Bearer \r\n", "Authorization: Basic !\r\n", token + token} {
		all = append(all, "GET"+target+headers+"\r\n")
	}
	return append(all, "DELETE"+target+token+"\r\n", "HEAD"+target+token+"\r\n", "POST"+target+token+"Content-Length: 4\r\n\r\nn=10",
		"POST"+target+token+"Transfer-Encoding: chunked\r\n\r\n4\r\nn=10\r\n0\r\n\r\n", "GET"+target+token+"Connection: close\r\nExpect: 100-continue\r\n\r\n")
}

// checkHeaders holds what every answer has, and that only Leaf's paths are answered with 500.
func checkHeaders(t *testing.T, q *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	isLeaf := strings.HasPrefix(q.URL.Path, "/api/segment/get/") || strings.HasPrefix(q.URL.Path, "/api/snowflake/get/")
	if w.Code >= 500 && !isLeaf {
		t.Errorf("%s %q: %d %s", q.Method, q.URL, w.Code, w.Body)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %q: headers %v", q.Method, q.URL, w.Header())
	}
	switch kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); {
	case kind == "application/json", kind == "text/plain", kind == "application/yaml":
	case w.Code/100 == 3: // net/http's own, to the path without //, . and ..
	default:
		t.Errorf("%s %q: %d with content of type %q", q.Method, q.URL, w.Code, kind)
	}
}

// bearsSecret reports whether a request has the token in one of the forms that are taken.
func bearsSecret(q *http.Request) bool {
	if _, password, ok := q.BasicAuth(); ok {
		return password == secret
	}
	return strings.HasSuffix(q.Header.Get("Authorization"), " "+secret)
}

// checkAnswer holds that the body is one JSON value in which ids are strings, and new ones.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, seen map[string]int64) {
	t.Helper()
	var got answer // whose ids are strings: numbers are an error
	from := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	from.DisallowUnknownFields()
	if err := from.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if rest, err := io.ReadAll(from.Buffered()); err != nil || string(rest) != "\n" || bytes.ContainsAny(w.Body.Bytes(), "<>&") {
		t.Errorf("more than one value, or one that HTML might read: %q, %v", w.Body, err)
	}
	if wrong := w.Code != http.StatusOK; wrong != (got.Error.Code != "") || wrong && (got.First != "" || len(got.IDs) > 0 || got.Error.Message == "") {
		t.Errorf("%d with %s", w.Code, w.Body)
	}
	if got.First == "" {
		return
	}
	first, err := strconv.ParseInt(got.First, 10, 64)
	last, lastErr := strconv.ParseInt(got.Last, 10, 64)
	if err != nil || lastErr != nil || got.N < 1 || got.N > fuzzMaxN || last-first != got.N-1 {
		t.Fatalf("a run of %d: %s", got.N, w.Body)
	}
	if first <= seen[got.Sequence] {
		t.Errorf("%s gave %d after %d", got.Sequence, first, seen[got.Sequence])
	}
	seen[got.Sequence] = last
}
