package snowflake

import "time"

// Status is what a generator is doing.
type Status struct {
	Name      string
	Last      time.Time     // of the latest ids: when their tick begins; of the first ids to come before there were any
	Ahead     time.Duration // how far that is ahead of the clock; 0 when it is not
	Limit     time.Time     // see Generator.SetLimit; the last tick of the layout when none was set
	Ends      time.Time     // when the time bits of the layout end
	Waits     int64         // calls that had to wait
	Steps     int64         // how often the time of day was found to have been set
	LastStep  time.Duration // by how much the last time; negative: back
	MaxBorrow time.Duration // as in Config, with the default filled in
}

// Status returns what g is doing.
func (g *Generator) Status() Status {
	now, last := g.clock.read(), g.tick(g.next.Load()-1)*g.unit
	return Status{
		Name: g.name, Last: g.at(last), Ahead: max(time.Duration(last-now), 0),
		Limit: g.at(g.limit.Load() * g.unit), Ends: g.layout.Ends(),
		Waits: g.waits.Load(), Steps: g.clock.steps.Load(), LastStep: time.Duration(g.clock.lastStep.Load()), MaxBorrow: g.cfg.MaxBorrow,
	}
}
