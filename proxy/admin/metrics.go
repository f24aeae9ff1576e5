package admin

import (
	"net/http"
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsHandler answers GET /metrics, in the format that a scraper asks for. All is read when it asks.
func metricsHandler(cfg Config) http.Handler {
	registry := prometheus.NewRegistry()
	live := collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/gc/heap/live:bytes$`)} // what a leak shows in first
	registry.MustRegister(collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(live)), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newCollector(cfg))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// collector returns seqgate's own metrics.
type collector struct {
	cfg   Config
	named names
}

var _ prometheus.Collector = (*collector)(nil)

func newCollector(cfg Config) *collector {
	cfg.fill()
	return &collector{cfg: cfg, named: names{most: maxSequences}}
}

// own are all metrics of seqgate's own, in the order of the documentation.
func own() []*metric {
	return slices.Concat(processMetrics, sequenceMetrics, keyedMetrics, generatorMetrics, clientMetrics, backendMetrics, apiMetrics)
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range own() {
		ch <- m.desc
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := sink(ch)
	traffic := c.cfg.Traffic()
	c.process(s, traffic)
	c.sequences(s)
	c.keyed(s)
	c.generators(s)
	clients(s, traffic)
	backends(s, traffic)
	servers(s, c.cfg.Health())
	api(s, c.cfg.API())
}
