package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seqgate/seqgate/proxy/catalog"
)

const sequencesText = mainKeyspace + `
sequences:
  prefetch: 25%
  failover_skip: 5000
  auto_create: true
  overrides:
    main.a_seq: {refill: increment, failover_skip: 0}
    main.b_seq: {ordered: true}
    main.c_seq: {stores: {one: "u:p@tcp(h1)/main", two: "u:p@tcp(h2)/main?tls=skip-verify"}, stripes: 4}
tables:
  on_explicit_id: warn
  overrides:
    main.users: {on_explicit_id: ignore}
`

// What is written for one sequence or table wins over what is written for all.
func TestSequenceSettings(t *testing.T) {
	c := loadText(t, sequencesText, nil)
	if c.Sequences.Prefetch != 25 || !c.Sequences.AutoCreate {
		t.Errorf("got prefetch %d, auto_create %v, want 25, true", c.Sequences.Prefetch, c.Sequences.AutoCreate)
	}
	for name, want := range map[string]SequenceOverride{
		"a_seq": {Refill: RefillIncrement},
		"b_seq": {Refill: RefillForUpdate, FailoverSkip: 5000, Ordered: true},
		"c_seq": {Refill: RefillForUpdate, Stripes: 4, StripeChunk: 1_000_000},
		"other": {Refill: RefillForUpdate, FailoverSkip: 5000},
	} {
		got := c.Sequences.Of("main", name)
		got.Stores = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	stores := c.Sequences.Of("main", "c_seq").Stores
	if len(stores) != 2 || stores[0].Name != "one" || stores[1].DSN.Addr != "h2:3306" {
		t.Fatalf("stores %v", stores)
	}
	if stores[0].Mode != TLSAsClient || stores[1].Mode != TLSRequired || stores[1].DSN.TLS == nil {
		t.Errorf("the stores' TLS modes are %v and %v, want those of other servers", stores[0].Mode, stores[1].Mode)
	}
	for table, want := range map[string]catalog.ExplicitPolicy{"users": catalog.ExplicitIgnore, "posts": catalog.ExplicitWarn} {
		if got := c.Tables.OnExplicitIDOf("main", table); got != want {
			t.Errorf("explicit ids of %s: got %s, want %s", table, got, want)
		}
	}
}

func TestSequenceSettingErrors(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"percentage":         {"sequences: {prefetch: 100}", `c.yaml:2:23: sequences.prefetch: "100" is no percentage: write a whole number from 0 to 99, such as 10`},
		"negative skip":      {"sequences: {failover_skip: -1}", `c.yaml:2:28: sequences.failover_skip: "-1" is no count: write a whole number from 0`},
		"bool":               {"sequences: {auto_create: maybe}", `c.yaml:2:26: sequences.auto_create: unknown value "maybe": write one of false, true`},
		"name":               {"sequences: {overrides: {s: {refill: cas}}}", `c.yaml:2:25: sequences.overrides.s: "s" is no full name: write keyspace and name, such as main.users_seq`},
		"no setting":         {"sequences: {overrides: {main.s: {}}}", "c.yaml:2:33: sequences.overrides.main.s: no setting: write one of failover_skip, ordered, refill, stores, stripe_chunk, stripes"},
		"stripes alone":      {"sequences: {overrides: {main.s: {stripes: 4}}}", "c.yaml:2:33: sequences.overrides.main.s: stripes and stripe_chunk are for a sequence on several servers: write its stores too"},
		"too many stripes":   {`sequences: {overrides: {main.s: {stripes: 5000, stores: {a: "u:p@tcp(h)/main"}}}}`, "c.yaml:2:33: sequences.overrides.main.s: a sequence has 2 to 1000 stripes, not 5000"},
		"skip and chunk":     {`sequences: {overrides: {main.s: {failover_skip: 10, stripe_chunk: 10, stores: {a: "u:p@tcp(h)/main"}}}}`, "c.yaml:2:33: sequences.overrides.main.s: failover_skip is to be below stripe_chunk, 10"},
		"store's name":       {`sequences: {overrides: {main.s: {stores: {"a b": "u:p@tcp(h)/main"}}}}`, `c.yaml:2:33: sequences.overrides.main.s: the servers of a striped sequence have different names of 1 to 64 letters, digits and ._:-, not "a b"`},
		"store's database":   {`sequences: {overrides: {main.s: {stores: {a: "u:p@tcp(h)/d"}}}}`, `c.yaml:2:24: sequences.overrides: store a of main.s has the database "d": name it "main" on every store, as in keyspace main`},
		"no store":           {"sequences: {overrides: {main.s: {stores: {}}}}", `c.yaml:2:42: sequences.overrides.main.s.stores: no store: write a: "user:password@tcp(127.0.0.1:3306)/database", and others`},
		"ordered and stores": {`sequences: {overrides: {main.s: {ordered: true, stores: {a: "u:p@tcp(h)/main"}}}}`, "c.yaml:2:33: sequences.overrides.main.s: ordered and stores together: ids in order come from one row; leave one out"},
		"policy":             {"tables: {on_explicit_id: advanse}", `c.yaml:2:26: tables.on_explicit_id: unknown value "advanse": did you mean "advance"?`},
		"no keyspace":        {"sequences: {overrides: {mian.s: {refill: cas}}}", `c.yaml:2:24: sequences.overrides: mian.s: there is no keyspace "mian": did you mean "main"?`},
		"advertise":          {"advertise: 0.0.0.0:3307", `c.yaml:2:12: advertise: "0.0.0.0:3307" is no address that other machines can reach: write host:port, such as 10.0.0.5:3307`},
		"empty table":        {"tables: {overrides: {main.t: {}}}", "c.yaml:2:30: tables.overrides.main.t: no setting: write on_explicit_id: ignore, warn or advance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeHere(t, "c.yaml", mainKeyspace+tt.text+"\n")
			_, err := loader(env(nil)).Load("c.yaml")
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// Settings of what the vschema does not have are mistakes.
func TestSettingsOfUnknownNames(t *testing.T) {
	t.Chdir(t.TempDir())
	writeHere(t, "v.json", `{"keyspaces": {"main": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "s"}}, "s": {"type": "sequence"}}}}}`)
	writeHere(t, "c.yaml", mainKeyspace+`vschema: v.json
sequences: {overrides: {main.t: {refill: cas}}}
tables: {overrides: {main.s: {on_explicit_id: warn}}}
`)
	_, err := loader(env(nil)).Load("c.yaml")
	const want = `c.yaml:3:24: sequences.overrides: the vschema has no sequence "main.t": did you mean "main.s"?
c.yaml:4:21: tables.overrides: the vschema has no table filled by a sequence "main.s": did you mean "main.t"?`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
