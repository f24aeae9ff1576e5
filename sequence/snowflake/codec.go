package snowflake

import "time"

// codec puts ids together: a layout with the zone and the worker id filled in. Two generators with equal codecs would
// give the same ids, whatever their layouts are called.
//
// A position is tick<<seqBits + sequence: the ids of one worker in the order in which it gives them.
type codec struct {
	epoch     int64 // Unix milliseconds
	unit      int64 // nanoseconds
	lastTick  int64
	tickShift uint
	seqShift  uint
	seqBits   uint
	fixed     int64 // zone and worker id in their places
}

// codec expects a valid layout, and numbers that fit.
func (l Layout) codec(zone, worker int64) codec {
	zoneShift, _ := l.place(Zone)
	workerShift, _ := l.place(Worker)
	tickShift, _ := l.place(Time)
	seqShift, seqBits := l.place(Sequence)
	return codec{
		epoch: l.Epoch, unit: int64(l.Unit), lastTick: l.Max(Time), fixed: zone<<zoneShift | worker<<workerShift,
		tickShift: uint(tickShift), seqShift: uint(seqShift), seqBits: uint(seqBits),
	}
}

// id returns the id at a position.
func (c *codec) id(position int64) int64 {
	return c.tick(position)<<c.tickShift | c.sequence(position)<<c.seqShift | c.fixed
}

func (c *codec) tick(position int64) int64     { return position >> c.seqBits }
func (c *codec) sequence(position int64) int64 { return position & (1<<c.seqBits - 1) }
func (c *codec) begin(tick int64) int64        { return tick << c.seqBits }

// step is the distance of two ids of one tick.
func (c *codec) step() int64 { return 1 << c.seqShift }

// since returns the nanoseconds from the epoch to t. A distance over 292 years is cut to that.
func (c *codec) since(t time.Time) int64 { return int64(t.Sub(time.UnixMilli(c.epoch))) }

// at returns the moment that many nanoseconds after the epoch.
func (c *codec) at(since int64) time.Time {
	return time.UnixMilli(c.epoch).Add(time.Duration(since)).UTC()
}

// tickOf returns the tick of a moment in nanoseconds since the epoch: -1 before the epoch, lastTick+1 from the end of the
// time bits on.
func (c *codec) tickOf(since int64) int64 {
	if since < 0 {
		return -1
	}
	return min(since/c.unit, c.lastTick+1)
}
