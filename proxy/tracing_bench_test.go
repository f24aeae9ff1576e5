package proxy_test

import (
	"io"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seqgate/seqgate/internal/oteltrace"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// BenchmarkTracing is what spans cost a statement: without a tracer, and with those of a share of the statements handed to
// OpenTelemetry's batches, whose exporter throws them away.
func BenchmarkTracing(b *testing.B) {
	for _, trace := range []struct {
		name  string
		ratio float64
	}{{"off", 0}, {"ratio 0.01", 0.01}, {"ratio 1", 1}} {
		for _, bench := range []struct{ name, sql string }{
			{"relayed SELECT", "SELECT v FROM t WHERE id = 1"},
			{"filled INSERT", "INSERT INTO t (v) VALUES (1)"},
			{"NEXT VALUE", "SELECT NEXT VALUE FROM t_seq"},
		} {
			b.Run(bench.name+"/"+trace.name, func(b *testing.B) {
				g := newGate(b, servertest.First(b), tracedBy(b, trace.ratio))
				exec(b, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)")
				createSequence(b, g.direct, "t_seq", 1000, 100000)
				c := rawClient(b, g.dsn(""))
				packet := command("\x03" + bench.sql)
				answer := make([]byte, 64<<10)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Write(packet); err != nil {
						b.Fatal(err)
					}
					if _, err := c.Read(answer); err != nil && err != io.EOF { // it comes in one piece
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// tracedBy are the options of a gate with spans for a share of its statements; 0: without any.
func tracedBy(b *testing.B, ratio float64) (o gateOptions) {
	if ratio == 0 {
		return o
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))))
	b.Cleanup(func() { _ = provider.Shutdown(b.Context()) }) // nothing is lost that anybody wants
	tracer := oteltrace.New(provider, "")
	o.sequence.Tracer = tracer
	o.configure = func(cfg *proxy.Config) { cfg.Tracer = tracer }
	return o
}
