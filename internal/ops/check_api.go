package ops

import (
	"net"
	"path"
	"slices"

	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/vschema"
)

// checkAPI warns of tokens that others can read, and of patterns that fit nothing in the vschema.
func (c *checker) checkAPI() {
	api := c.cfg.API
	if api.Listen == "" {
		return
	}
	host, _, _ := net.SplitHostPort(api.Listen) // it was read as an address
	if ip := net.ParseIP(host); !api.TLS && host != "localhost" && !ip.IsLoopback() && slices.ContainsFunc(api.Tokens, func(t idapi.Token) bool { return !t.Anonymous }) {
		c.warn("api", "tokens are sent to %s without encryption: write tls: true below api", api.Listen)
	}
	if c.cfg.VSchema == nil {
		return
	}
	names := c.idNames()
	for _, t := range api.Tokens {
		for _, pattern := range t.Sequences {
			fits := func(name string) bool { ok, _ := path.Match(pattern, name); return ok } // it was read as a pattern
			if !slices.ContainsFunc(names, fits) {
				c.warn("api", "token %s may take ids of %s, and the vschema has no such sequence or generator", t.Name, pattern)
			}
		}
	}
}

// idNames are the sequences and generators of the vschema.
func (c *checker) idNames() (names []string) {
	for _, k := range c.cfg.VSchema.Keyspaces() {
		for _, g := range k.Generators() {
			names = append(names, k.Name+"."+g.Name)
		}
		for _, t := range k.Tables() {
			if t.Type == vschema.Sequence {
				names = append(names, k.Name+"."+t.Name)
			}
		}
	}
	return names
}
