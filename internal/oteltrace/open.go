package oteltrace

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Config says what is traced. Where spans go, and all else, the standard variables OTEL_* of the environment say:
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
type Config struct {
	// Ratio is the share of traces that are kept, 0 to 1, of those that a client does not continue.
	// OTEL_TRACES_SAMPLER wins over it.
	Ratio   float64
	Version string       // seqgate's
	Logger  *slog.Logger // is told when spans cannot be exported
}

// Open returns a Tracer that exports by OTLP over HTTP; nil when the environment turns tracing off by OTEL_SDK_DISABLED
// or by OTEL_TRACES_EXPORTER=none. end exports what is left.
//
// It returns an error when the environment asks for what there is not. That nobody listens at the endpoint is none: spans
// are lost then, and the logger told.
func Open(ctx context.Context, cfg Config) (t *Tracer, end func(context.Context) error, err error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil, nil
	}
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return nil, nil, nil
	case "", "otlp":
	default:
		return nil, nil, fmt.Errorf("OTEL_TRACES_EXPORTER=%s: seqgate exports by otlp; set it to otlp or none", exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, nil, fmt.Errorf("%s=%s: seqgate exports over http/protobuf; set it to that, and the endpoint to the collector's port for it, 4318 by default", name, protocol)
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the export of spans: %w", err)
	}
	about, err := describe(ctx, cfg.Version)
	if err != nil {
		return nil, nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { cfg.Logger.Warn("spans not exported", "err", err) }))
	options := []sdktrace.TracerProviderOption{sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(cfg.Ratio))))
	}
	provider := sdktrace.NewTracerProvider(options...)
	return New(provider, cfg.Version), provider.Shutdown, nil
}

// describe says who the spans are of: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what is said here.
func describe(ctx context.Context, version string) (*resource.Resource, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("seqgate"), semconv.ServiceVersion(version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about, nil
}
