package admin

import "time"

// GeneratorStatus is what a generator of type snowflake is doing.
type GeneratorStatus struct {
	Keyspace, Name string
	Layout         string
	From           string    // where the worker id is from, for people
	Err            error     // of the last attempt to lease one or to extend the lease; nil when it was good
	Ends           time.Time // when the time bits of the layout end

	Held   bool  // there is a worker id; what follows but counts is zero without
	Worker int64 // that
	Leased bool  // it is the process's for a time only, which LeaseLeft is left of
	LeaseLeft,
	ClockOffset time.Duration // how far this host's clock is ahead of the one that leases are measured by
	ClockKnown bool          // ClockOffset is known
	Borrowed   time.Duration // how far the latest ids are ahead of the clock

	IDs         int64 // that were made
	Waits       int64 // calls that had to wait
	ClockSteps  int64 // how often the time of day was found to have been set
	LeaseLosses int64 // how often a worker id was lost to others
	LeaseErrors int64 // attempts in a row to extend the lease that failed
}

var (
	generatorIDs         = counter("generator_ids_total", "Ids that were made.", "keyspace", "generator")
	generatorWaits       = counter("generator_waits_total", "Calls that had to wait for the clock, or for the lease.", "keyspace", "generator")
	generatorHeld        = gauge("generator_worker_held", "1 while there is a worker id; 0 before the first id here.", "keyspace", "generator")
	generatorWorker      = gauge("generator_worker_id", "The worker id.", "keyspace", "generator")
	generatorLease       = gauge("generator_lease_seconds", "How long the lease of the worker id lasts unless it is extended; absent for configured ids.", "keyspace", "generator")
	generatorLeaseErrors = gauge("generator_lease_failures", "Attempts in a row to extend the lease that failed.", "keyspace", "generator")
	generatorLosses      = counter("generator_lease_losses_total", "How often a worker id was lost to others.", "keyspace", "generator")
	generatorOffset      = gauge("generator_clock_offset_seconds", "How far this host's clock is ahead of the one that leases are measured by.", "keyspace", "generator")
	generatorSteps       = counter("generator_clock_steps_total", "How often the time of day was found to have been set.", "keyspace", "generator")
	generatorBorrowed    = gauge("generator_borrowed_seconds", "How far the latest ids are ahead of the clock.", "keyspace", "generator")
	generatorEnds        = gauge("generator_end_timestamp_seconds", "When the time bits of the layout end, in seconds since 1970.", "keyspace", "generator", "layout")

	generatorMetrics = []*metric{generatorIDs, generatorWaits, generatorHeld, generatorWorker, generatorLease, generatorLeaseErrors,
		generatorLosses, generatorOffset, generatorSteps, generatorBorrowed, generatorEnds}
)

// generators tells of each generator; the vschema bounds how many there are.
func (c *collector) generators(s sink) {
	for _, g := range c.cfg.Generators() {
		s.generator(g)
	}
}

func (s sink) generator(g GeneratorStatus) {
	s.put(generatorIDs, float64(g.IDs), g.Keyspace, g.Name)
	s.put(generatorWaits, float64(g.Waits), g.Keyspace, g.Name)
	s.put(generatorSteps, float64(g.ClockSteps), g.Keyspace, g.Name)
	s.put(generatorLosses, float64(g.LeaseLosses), g.Keyspace, g.Name)
	s.put(generatorEnds, timestamp(g.Ends), g.Keyspace, g.Name, g.Layout)
	s.put(generatorHeld, truth(g.Held), g.Keyspace, g.Name)
	s.put(generatorLeaseErrors, float64(g.LeaseErrors), g.Keyspace, g.Name)
	if g.Held {
		s.put(generatorWorker, float64(g.Worker), g.Keyspace, g.Name)
		s.put(generatorBorrowed, g.Borrowed.Seconds(), g.Keyspace, g.Name)
	}
	if g.Held && g.Leased {
		s.put(generatorLease, g.LeaseLeft.Seconds(), g.Keyspace, g.Name)
	}
	if g.ClockKnown {
		s.put(generatorOffset, g.ClockOffset.Seconds(), g.Keyspace, g.Name)
	}
}
