package config

import (
	"strings"
	"testing"
)

// A single server named by a flag has no shards, whatever the vschema says of its keyspace.
func TestUpstreamSharded(t *testing.T) {
	path := writeFile(t, "v.json", `{"keyspaces": {"shop": {"sharded": true}}}`)
	_, err := loader(env(map[string]string{"SEQGATE_VSCHEMA": path})).Upstream("u:p@tcp(h)/shop")
	if err == nil || !strings.Contains(err.Error(), `the keyspace "shop" is sharded: name its shards in a configuration file`) {
		t.Errorf("got %v, want that the keyspace is sharded", err)
	}
}

// Shards are in the order of their key ranges, however the file orders them.
func TestShardOrder(t *testing.T) {
	vschema := writeFile(t, "v.json", `{"keyspaces": {"a": {"sharded": true}, "m": {"sharded": true, "vindexes": {"mod": {"type": "modulo", "params": {"shards": "s2,s1"}}}}}}`)
	c := loadText(t, `users: [{name: u, password: p}]
vschema: `+vschema+`
default_keyspace: a
keyspaces:
  a: {shards: {"80-": "u:p@tcp(h)/c", "-40": "u:p@tcp(h)/a", "40-80": "u:p@tcp(h)/b"}}
  m: {shards: {s1: "u:p@tcp(h)/d", s2: "u:p@tcp(h)/e"}}
`, nil)
	for i, want := range []string{"-40 40-80 80-", "s2 s1"} {
		var names []string
		for _, s := range c.Keyspaces[i].Shards {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want || !c.Keyspaces[i].Sharded() {
			t.Errorf("shards %s of %s, want %s", got, c.Keyspaces[i].Name, want)
		}
	}
}
