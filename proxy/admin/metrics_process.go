package admin

import (
	"runtime"

	"github.com/seqgate/seqgate/proxy/meter"
)

// Reloads is how often files were read again while seqgate runs.
type Reloads struct {
	OK     int64 // they were taken over
	Failed int64 // they could not be, and what was before stayed
}

var (
	buildInfo          = gauge("build_info", "1, with the version of seqgate and of Go.", "version", "goversion")
	startTime          = gauge("start_time_seconds", "When seqgate began, in seconds since 1970.")
	configReloads      = counter("config_reloads_total", "How often the configuration was read again, by whether it was taken over (ok, error).", "result")
	readyNow           = gauge("ready", "1 while new clients are taken, 0 once seqgate drains.")
	vschemaReloads     = counter("vschema_reloads_total", "How often the vschema was read again, by whether it was taken over (ok, error).", "result")
	certificateReloads = counter("certificate_reloads_total", "How often the files of certificates were read again, by whether they were taken over (ok, error).", "result")

	processMetrics = []*metric{buildInfo, startTime, readyNow, configReloads, vschemaReloads, certificateReloads}
)

func (c *collector) process(s sink, t meter.Snapshot) {
	s.put(buildInfo, 1, c.cfg.Version, runtime.Version())
	s.put(startTime, timestamp(t.Started))
	s.put(readyNow, truth(c.cfg.Ready()))
	s.reloads(configReloads, c.cfg.ConfigReloads())
	s.reloads(vschemaReloads, c.cfg.Reloads())
	s.reloads(certificateReloads, c.cfg.Certificates())
}

func (s sink) reloads(m *metric, r Reloads) {
	s.put(m, float64(r.OK), "ok")
	s.put(m, float64(r.Failed), "error")
}
