package config

import "strconv"

// Tracing is what is told of statements and refills as spans of OpenTelemetry. Where they go, the variables OTEL_* say.
type Tracing struct {
	Ratio float64 // share of the statements, 0 to 1; 0: nothing is traced
}

const withoutTracing = "this seqgate was built without tracing: build it with go build -tags otel ./cmd/seqgate, or leave tracing.ratio out"

// ratio reads a share.
func (r *reader) ratio(v value) float64 {
	n, err := strconv.ParseFloat(v.written(), 64)
	if err != nil || !(n >= 0 && n <= 1) { // not NaN
		r.fail(v, "%q is no share: write a number from 0 to 1, such as 0.01", v.written())
	} else if n > 0 && !r.Tracing {
		r.fail(v, withoutTracing)
	}
	return n
}
