package idapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Token is one that may ask.
type Token struct {
	Name string // for people and metrics
	// Hash is the SHA-256 of the token; the zero one is of nobody. Tokens are long and random, so that this hash is enough.
	Hash [sha256.Size]byte
	// Anonymous lets those ask who send no token, with the rights of this one.
	Anonymous bool
	// Sequences are patterns, as of [path.Match], of the names keyspace.name that it may take ids of.
	Sequences []string
	// Rate is how many requests a second it may make, in bursts of one second's; 0 is any number.
	Rate float64
}

// client is a Token in use.
type client struct {
	Token
	rate *bucket
}

func newClient(t Token) *client { return &client{Token: t, rate: newBucket(t.Rate)} }

// SetTokens has these tokens, and no others, count from the next request on. What one that stays has used up of its rate
// remains used up.
func (h *Handler) SetTokens(tokens []Token) {
	var before []*client
	if all := h.tokens.Load(); all != nil {
		before = *all
	}
	clients := make([]*client, 0, len(tokens))
	for _, t := range tokens {
		c := newClient(t)
		if at := slices.IndexFunc(before, func(o *client) bool { return o.Name == t.Name && o.Rate == t.Rate }); at >= 0 {
			c.rate = before[at].rate
		}
		clients = append(clients, c)
	}
	h.tokens.Store(&clients)
}

// may reports whether ids of that name may be taken.
func (c *client) may(name string) bool {
	for _, pattern := range c.Sequences {
		if ok, err := path.Match(pattern, name); ok && err == nil { // a bad pattern allows nothing
			return true
		}
	}
	return false
}

// identify returns who asks; nil for nobody. How long it takes does not depend on how much of a token is right.
func (h *Handler) identify(q *http.Request) *client {
	secret, given := credentials(q)
	hash := sha256.Sum256([]byte(secret))
	var found *client
	for _, c := range *h.tokens.Load() {
		switch {
		case c.Anonymous:
			if !given {
				found = c
			}
		case subtle.ConstantTimeCompare(hash[:], c.Hash[:]) == 1 && secret != "":
			found = c
		}
	}
	return found
}

// credentials returns the token of a request: as RFC 6750 has it, or as the password of HTTP's basic authentication, for
// clients that know only that. given is true whenever there is anything of the kind: then nobody is anonymous.
func credentials(q *http.Request) (secret string, given bool) {
	header := q.Header.Get("Authorization")
	if header == "" {
		return "", false
	}
	if scheme, rest, ok := strings.Cut(header, " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest), true
	}
	_, password, _ := q.BasicAuth() // "" is the token of nobody
	return password, true
}
