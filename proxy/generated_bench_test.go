package proxy

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/vschema"
)

// BenchmarkPlanGenerated is BenchmarkPlanInsert with ids of a sequence, of a snowflake whose layout does not cap the rate,
// and UUIDs.
func BenchmarkPlanGenerated(b *testing.B) {
	flake := &vschema.Generator{Keyspace: "main", Name: "g", Type: vschema.Snowflake, Snowflake: &vschema.SnowflakeParams{
		Epoch: time.Now().AddDate(0, 0, -1), Worker: new(int64(3)),
		Bits: []vschema.BitField{{Name: "time", Bits: 37}, {Name: "worker", Bits: 5}, {Name: "sequence", Bits: 21}}}}
	for _, n := range []int{1, 1000} {
		text := []byte("insert into orders(customer, name) values ")
		for i := range n {
			text = fmt.Appendf(text, "(%d,'customer %d'),", i+1, i)
		}
		text = bytes.TrimSuffix(text, []byte(","))
		for _, from := range []string{"sequence", "snowflake", "uuid", "uuid7"} {
			b.Run(fmt.Sprintf("rows=%d/%s", n, from), func(b *testing.B) {
				s := insertSession(b)
				s.srv.cfg.Generators = generate.New(generate.Config{})
				binding, err := s.srv.catalog.Binding(b.Context(), s.keyspace, "d", "orders")
				if err != nil {
					b.Fatal(err)
				}
				switch from {
				case "sequence":
				case "snowflake":
					numbers, err := s.srv.cfg.Generators.Snowflake(flake)
					if err != nil {
						b.Fatal(err)
					}
					binding.Generator, binding.Numbers = flake, numbers
				default:
					binding.Generator, binding.Form = &vschema.Generator{Type: vschema.GeneratorType(from)}, generate.Dashed
				}
				b.ReportAllocs()
				for b.Loop() {
					p, err := s.plan(text)
					if err == nil {
						err = s.compose(&p, nil, text)
					}
					if err != nil || p.kind != plan.Filled {
						b.Fatal(p.kind, err)
					}
				}
			})
		}
	}
}
