package main

import (
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// maxConnections is enough for all connections of a thousand seqgates.
const maxConnections = 10_000

// big is the fleet of docs/internals/scale.md: 1,000 seqgates, 10,000 sequences and a million inserts a second.
func big() fleet {
	return fleet{
		gates: 1000, sequences: 10_000, inserts: 1e6, zipf: 1, exact: 64, classSize: 50, cache: 1000,
		cfg: sequence.Config{
			MinLifetime: sequence.DefaultMinLifetime, MaxStep: sequence.DefaultMaxStep,
			PrefetchShare: sequence.DefaultPrefetchShare, Timeout: sequence.DefaultTimeout,
		},
		strategy: sequence.StrategyIncrement, costs: mariaDB, pool: 8, most: maxConnections, servers: 1, away: 1, outage: time.Hour,
	}
}

// small is a fleet that a test can afford.
func small() fleet {
	f := big()
	f.gates, f.sequences, f.inserts, f.cache, f.exact, f.classSize = 20, 200, 2000, 100, 16, 5
	return f
}

// but returns f with changes.
func (f fleet) but(changes ...func(*fleet)) fleet {
	for _, change := range changes {
		change(&f)
	}
	return f
}

func lasting(d time.Duration) func(*fleet)  { return func(f *fleet) { f.cfg.MinLifetime = d } }
func upTo(step int64) func(*fleet)          { return func(f *fleet) { f.cfg.MaxStep = step } }
func ahead(share float64) func(*fleet)      { return func(f *fleet) { f.cfg.PrefetchShare = share } }
func caches(n int64) func(*fleet)           { return func(f *fleet) { f.cache = n } }
func through(gates int) func(*fleet)        { return func(f *fleet) { f.gates = gates } }
func by(strategy string) func(*fleet)       { return func(f *fleet) { f.strategy = strategy } }
func on(c costs) func(*fleet)               { return func(f *fleet) { f.costs = c } }
func accepting(n int) func(*fleet)          { return func(f *fleet) { f.most = n } }
func inGroups(n int) func(*fleet)           { return func(f *fleet) { f.group = n } }
func outageOf(d time.Duration) func(*fleet) { return func(f *fleet) { f.outage = d } }

// over has n servers, of which so many are away in the outage.
func over(n, away int) func(*fleet) { return func(f *fleet) { f.servers, f.away = n, away } }

// striped has each sequence lie on all servers.
func striped(f *fleet) { f.stripes, f.chunk = sequence.DefaultStripes, sequence.DefaultChunk }

// policies are what an operator may set, on the fleet and on one of few seqgates.
func policies(f fleet) []fleet {
	few := f.but(through(16))
	return []fleet{
		f.but(upTo(f.cache)),
		f,
		f.but(ahead(0.5)),
		f.but(lasting(70 * time.Minute)),
		f.but(caches(10 * f.cache)),
		f.but(caches(10*f.cache), lasting(70*time.Minute)),
		few.but(upTo(few.cache)),
		few,
		few.but(lasting(70 * time.Minute)),
		few.but(lasting(70*time.Minute), upTo(50_000_000)),
	}
}

var strategies = []string{sequence.StrategyIncrement, sequence.StrategyCAS, sequence.StrategyForUpdate}

// refills are the strategies on both servers, without an outage.
func refills(f fleet) (all []fleet) {
	for _, c := range []costs{mariaDB, mySQL} {
		for _, s := range strategies {
			all = append(all, f.but(on(c), by(s), outageOf(0)))
		}
	}
	return all
}

// herds are fleets after the same outage.
func herds(f fleet) (all []fleet) {
	for _, c := range []costs{mariaDB, mySQL} {
		for _, s := range strategies {
			all = append(all, f.but(on(c), by(s)))
		}
	}
	all = append(all, f.but(over(4, 4)), f.but(accepting(f.gates)))
	return append(all, f.but(inGroups(100)), f.but(by(sequence.StrategyForUpdate), inGroups(100)), f.but(inGroups(250)))
}

// outages are fleets with an outage of their own each.
func outages(f fleet) (all []fleet) {
	for _, d := range []time.Duration{time.Minute, 10 * time.Minute} {
		all = append(all, f.but(outageOf(d)))
	}
	for _, gates := range []int{16, 250} {
		all = append(all, f.but(through(gates)))
	}
	all = append(all, f.but(through(500), by(sequence.StrategyCAS)))
	for _, gates := range []int{250, 500} {
		all = append(all, f.but(through(gates), by(sequence.StrategyForUpdate)))
	}
	all = append(all, f.but(through(500), on(mySQL)))
	for _, gates := range []int{100, 250, 500} {
		all = append(all, f.but(through(gates), by(sequence.StrategyForUpdate), on(mySQL)))
	}
	return all
}

// stores compares whole sequences on several servers with striped ones.
func stores(f fleet) []fleet {
	return []fleet{
		f.but(over(2, 1)), f.but(over(2, 1), striped),
		f.but(over(2, 1), striped, lasting(70*time.Minute)),
	}
}
