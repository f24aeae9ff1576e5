package admin

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seqgate/seqgate/internal/buckets"
)

// metric is one of seqgate's own metrics.
type metric struct {
	name, typ, help string
	labels          []string
	value           prometheus.ValueType
	desc            *prometheus.Desc
}

func newMetric(typ string, value prometheus.ValueType, name, help string, labels []string) *metric {
	name = "seqgate_" + name
	return &metric{name: name, typ: typ, help: help, labels: labels, value: value, desc: prometheus.NewDesc(name, help, labels, nil)}
}

func counter(name, help string, labels ...string) *metric {
	return newMetric("counter", prometheus.CounterValue, name, help, labels)
}

func gauge(name, help string, labels ...string) *metric {
	return newMetric("gauge", prometheus.GaugeValue, name, help, labels)
}

func histogram(name, help string, labels ...string) *metric {
	return newMetric("histogram", prometheus.UntypedValue, name, help, labels)
}

// sink takes the values of one scrape.
type sink chan<- prometheus.Metric

// put tells the present value of a counter or gauge.
func (s sink) put(m *metric, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(m.desc, m.value, value, labelValues(labels)...)
}

// putAll tells the present state of a histogram.
func (s sink) putAll(m *metric, h buckets.Snapshot, labels ...string) {
	upTo := make(map[float64]uint64, len(buckets.Bounds))
	var n uint64
	for i, bound := range buckets.Bounds {
		n += uint64(h.Counts[i])
		upTo[bound.Seconds()] = n
	}
	s <- prometheus.MustNewConstHistogram(m.desc, uint64(h.Count()), h.Sum.Seconds(), upTo, labelValues(labels)...)
}

// labelValues returns labels as Prometheus takes them: it panics at what is not UTF-8, and a scrape must not end the process.
func labelValues(labels []string) []string {
	for i, label := range labels {
		labels[i] = strings.ToValidUTF8(label, "\ufffd")
	}
	return labels
}

// truth is 1 or 0.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timestamp is a time as Prometheus has it: seconds since 1970.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
