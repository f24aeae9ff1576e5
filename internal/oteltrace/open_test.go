package oteltrace_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seqgate/seqgate/internal/oteltrace"
)

// collect starts an endpoint of OTLP over HTTP.
func collect(t *testing.T) (url string, requests chan *collector.ExportTraceServiceRequest) {
	t.Helper()
	requests = make(chan *collector.ExportTraceServiceRequest, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		requests <- &request
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// Spans and what they are of arrive at a collector, as the standard variables say.
func TestOpenExports(t *testing.T) {
	url, requests := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	tracer, end, err := oteltrace.Open(t.Context(), oteltrace.Config{Ratio: 1, Version: "v1", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, endSpan := tracer.Start(t.Context(), "server", "SELECT main")
	endSpan(nil)
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := (<-requests).GetResourceSpans()
	if len(spans) != 1 || len(spans[0].GetScopeSpans()) != 1 || spans[0].GetScopeSpans()[0].GetSpans()[0].GetName() != "SELECT main" {
		t.Errorf("got %v, want the span", spans)
	}
	resource := spans[0].GetResource().String()
	for _, want := range []string{"service.name", "seqgate", "deployment.environment.name", "v1"} {
		if !strings.Contains(resource, want) {
			t.Errorf("the spans are of %s, without %s", resource, want)
		}
	}
}

func TestOpenObeysTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		name, key, value string
		ratio            float64
		off, kept        bool
		err              string
	}{
		{name: "all", ratio: 1, kept: true},
		{name: "none", ratio: 0},
		{name: "another sampler", ratio: 0, key: "OTEL_TRACES_SAMPLER", value: "always_on", kept: true},
		{name: "disabled", ratio: 1, key: "OTEL_SDK_DISABLED", value: "true", off: true},
		{name: "no exporter", ratio: 1, key: "OTEL_TRACES_EXPORTER", value: "none", off: true},
		{name: "another exporter", key: "OTEL_TRACES_EXPORTER", value: "zipkin", err: "exports by otlp"},
		{name: "another protocol", key: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "grpc", err: "http/protobuf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, _ := collect(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
			if test.key != "" {
				t.Setenv(test.key, test.value)
			}
			tracer, end, err := oteltrace.Open(t.Context(), oteltrace.Config{Ratio: test.ratio, Logger: slog.New(slog.DiscardHandler)})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), test.key) {
					t.Errorf("got %v, want an error of %s with %q", err, test.key, test.err)
				}
				return
			}
			if err != nil || (tracer == nil) != test.off {
				t.Fatalf("got %v, %v; want it off: %v", tracer, err, test.off)
			}
			if test.off {
				return
			}
			_, endSpan := tracer.Start(t.Context(), "server", "x")
			if (endSpan != nil) != test.kept {
				t.Errorf("the span is kept: %v, want %v", endSpan != nil, test.kept)
			}
			if err := end(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
