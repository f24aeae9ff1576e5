package main

import (
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// costs says how long a server works at the statements of one refill. The measured rates are those of
// docs/internals/benchmarks.md, "Refills a second in one run".
type costs struct {
	name string

	increment8                   float64 // refills a second of 8 clients on one row: the only cell that a row's lock does not slow down
	forUpdate1, cas1, increment1 float64 // of one client: what the strategies cost in relation to each other
}

var (
	mariaDB = costs{"MariaDB 10.11", 9010, 2406, 3305, 5349}
	mySQL   = costs{"MySQL 9.7", 3119, 1574, 2069, 3086}
)

// roundTrip is the time between an answer of a server and the next statement of the same refill.
const roundTrip = 500 * time.Microsecond

// refill returns how long a server works at each statement of a refill.
func (c costs) refill(strategy string) []time.Duration {
	write := time.Duration(float64(time.Second) / c.increment8)
	times := func(rate float64) time.Duration { return time.Duration(float64(write) * c.increment1 / rate) }
	switch strategy {
	case sequence.StrategyCAS:
		return []time.Duration{times(c.cas1) - write, write}
	case sequence.StrategyForUpdate:
		each := times(c.forUpdate1) / 4
		return []time.Duration{each, each, each, each}
	}
	return []time.Duration{write}
}

// connect is how long a server works at a new connection: the greeting, the SET and the question who it is.
func (c costs) connect() time.Duration { return 3 * c.refill(sequence.StrategyForUpdate)[0] }
