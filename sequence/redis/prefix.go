package redis

import (
	"strconv"
	"time"
)

// The layouts of a [Prefix].
const (
	Day  = "20060102"
	Hour = "2006010215"
)

// Prefix has ids begin with the day or the hour, in UTC: 20261122 and a count of 5 digits are 2026112200001 to
// 2026112299999. The count of each such period is a Redis key of its own, with the period behind a colon, which expires
// some days after it was last used.
type Prefix struct {
	Layout string           // Day or Hour
	Digits int              // of the count
	Now    func() time.Time // the clock; nil: time.Now
}

// period returns the period of now as a number.
func (p Prefix) period() int64 {
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	n, _ := strconv.ParseInt(now().UTC().Format(p.Layout), 10, 64) // digits only
	return n
}

// Key returns the name of the counter of the period of now, where the counters are named key.
func (p Prefix) Key(key string, now time.Time) string {
	if p.Layout == "" {
		return key
	}
	return key + ":" + now.UTC().Format(p.Layout)
}

// scale is the distance of the ids of two periods that are one apart as numbers.
func (p Prefix) scale() int64 {
	scale := int64(1)
	for range p.Digits {
		scale *= 10
	}
	return scale
}

// end returns when a period ends; false for a number that is none.
func (p Prefix) end(period int64) (time.Time, bool) {
	t, err := time.Parse(p.Layout, strconv.FormatInt(period, 10))
	if err != nil {
		return time.Time{}, false
	}
	if p.Layout == Hour {
		return t.Add(time.Hour), true
	}
	return t.AddDate(0, 0, 1), true
}
