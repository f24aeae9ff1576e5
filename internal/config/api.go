package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/sequence"
)

// API is what gives ids over HTTP.
type API struct {
	Listen string // "host:port"; empty: off
	TLS    bool   // with what TLS.Clients shows
	MaxN   int64  // the most ids in one request, 1 to sequence.MaxN
	// Connections is how many clients there may be at once; 0 is any number.
	Connections int
	Tokens      []idapi.Token // who may ask for which sequences
}

// shortestToken is what nobody guesses: 128 bits in hexadecimal digits have 32.
const shortestToken = 16

func (r *reader) apiTokens(v value) []idapi.Token {
	var tokens []idapi.Token
	anonymous := false
	r.eachItem(v, "[{name: batch, token_env: BATCH_TOKEN, sequences: [main.order_seq]}]", func(v value) {
		t := r.apiToken(v)
		switch {
		case slices.ContainsFunc(tokens, func(o idapi.Token) bool { return o.Name == t.Name && t.Name != "" }):
			r.fail(v, "token %q is listed twice: remove one", t.Name)
		case t.Anonymous && anonymous:
			r.fail(v, "more than one is anonymous: remove one")
		case !t.Anonymous && slices.ContainsFunc(tokens, func(o idapi.Token) bool { return !o.Anonymous && o.Hash == t.Hash && o.Hash != [sha256.Size]byte{} }):
			r.fail(v, "another one has the same token: write another")
		}
		anonymous = anonymous || t.Anonymous
		tokens = append(tokens, t)
	})
	return tokens
}

func (r *reader) apiToken(v value) idapi.Token {
	var t idapi.Token
	var secrets []string
	secret := func(kind string, read func(value) string) func(value) {
		return func(v value) {
			secrets = append(secrets, kind)
			if text := read(v); text != "" && len(text) < shortestToken {
				r.fail(v, "the token has less than %d characters, which can be guessed: make one by openssl rand -hex 32", shortestToken)
			} else if text != "" {
				t.Hash = sha256.Sum256([]byte(text))
			} else if kind == "token" && v.isText() {
				r.fail(v, "the token is empty: make one by openssl rand -hex 32")
			}
		}
	}
	r.fields(v, map[string]func(value){
		"name":       func(v value) { t.Name = r.text(v) },
		"token":      secret("token", r.text),
		"token_env":  secret("token_env", r.passwordFromEnv),
		"token_file": secret("token_file", func(v value) string { return r.secretFromFile(v, "make a token by openssl rand -hex 32") }),
		"token_sha256": func(v value) {
			secrets = append(secrets, "token_sha256")
			t.Hash = r.hash(v)
		},
		"anonymous": func(v value) { t.Anonymous = r.bool(v) },
		"sequences": func(v value) { t.Sequences = r.namePatterns(v) },
		"rate":      func(v value) { t.Rate = r.rate(v) },
	})
	switch {
	case !v.isMapping():
		return t
	case t.Anonymous && len(secrets) > 0:
		r.fail(v, "anonymous is for those without a token: leave %s out", secrets[0])
	case !t.Anonymous && len(secrets) == 0:
		r.fail(v, "the token is missing: write one of token, token_env, token_file, token_sha256")
	case len(secrets) > 1:
		r.fail(v, "more than one token: leave one of %s", strings.Join(secrets, ", "))
	}
	if t.Name == "" {
		r.fail(v, `the key "name" is missing or empty: write name: WHO`)
	}
	if len(t.Sequences) == 0 {
		r.fail(v, `the key "sequences" is missing or empty: write sequences: [main.order_seq], or ["*"] for all`)
	}
	return t
}

// hash reads a SHA-256 in hexadecimal digits.
func (r *reader) hash(v value) (hash [sha256.Size]byte) {
	text := r.text(v)
	read, err := hex.DecodeString(text)
	if v.isText() && (err != nil || len(read) != len(hash)) {
		r.fail(v, "this is no SHA-256: write 64 hexadecimal digits, as printf %%s TOKEN | sha256sum gives them")
		return hash
	}
	copy(hash[:], read)
	return hash
}

// namePatterns reads patterns of names of sequences.
func (r *reader) namePatterns(v value) []string {
	var patterns []string
	r.eachItem(v, `[main.order_seq, "other.*"]`, func(v value) {
		p := r.text(v)
		_, err := path.Match(p, "")
		switch {
		case !v.isText():
		case err != nil || p == "":
			r.fail(v, `%q is no pattern: write keyspace.sequence, with * for any text and ? for any character`, p)
		case p != "*" && !strings.ContainsAny(p, ".*?["):
			r.fail(v, "%q fits no name: write keyspace.sequence, or *.%s", p, p)
		}
		patterns = append(patterns, p)
	})
	return patterns
}

// lowestRate is about one request a day, in requests a second.
const lowestRate = 0.00001

// rate reads requests a second; 0 is any number.
func (r *reader) rate(v value) float64 {
	text := r.text(v)
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if v.isText() && err == nil && n > 0 && n < lowestRate {
		r.fail(v, "%q is less than one request a day: write %g/s or more, or 0 for any number", text, lowestRate)
		return 0
	}
	if v.isText() && (err != nil || !(n >= 0) || n > 1e9) {
		r.fail(v, "%q is no rate: write requests a second, such as 100/s, or 0 for any number", text)
		return 0
	}
	return n
}

// apiMost reads how many ids one request may ask for.
func (r *reader) apiMost(v value) int64 {
	n := r.count(v)
	if n > sequence.MaxN {
		r.fail(v, "%d is more than a sequence gives at once: write %d or less", n, int64(sequence.MaxN))
	}
	return n
}

// checkAPI finds an API that nobody could ask.
func (r *reader) checkAPI() {
	if v, ok := r.set["api.listen"]; ok && r.cfg.API.Listen != "" && len(r.cfg.API.Tokens) == 0 {
		r.fail(v, "nobody may ask: write api.tokens, such as [{name: batch, token_env: BATCH_TOKEN, sequences: [main.order_seq]}]")
	}
}
