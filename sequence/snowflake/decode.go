package snowflake

import (
	"errors"
	"fmt"
	"time"
)

// ErrNotID: a number that cannot be an id of the layout.
var ErrNotID = errors.New("not an id of the layout")

// Decoded is what an id says of itself.
type Decoded struct {
	Layout   string
	Time     time.Time // when its tick begins, in UTC
	Zone     int64     // 0 in a layout without zone
	Worker   int64
	Sequence int64
}

// Decode takes an id of the layout apart. Its errors match [ErrLayout], or [ErrNotID] for 0, negative numbers and those
// with more bits than the layout. A number from elsewhere is decoded too: nothing in it tells.
func (l Layout) Decode(id int64) (Decoded, error) {
	if err := l.Validate(); err != nil {
		return Decoded{}, err
	}
	shift, bits := l.place(Time)
	if id <= 0 || id>>shift > l.Max(Time) {
		return Decoded{}, fmt.Errorf("%d is %w %q: they are 1 to 2^%d-1", id, ErrNotID, l.Name, shift+bits)
	}
	since := time.Duration(l.value(id, Time)) * l.Unit
	return Decoded{
		Layout: l.Name, Time: l.epoch().Add(since),
		Zone: l.value(id, Zone), Worker: l.value(id, Worker), Sequence: l.value(id, Sequence),
	}, nil
}

// clockSlack is how far after now the time of an id may lie and still be believed: clocks differ, and time is borrowed.
const clockSlack = 24 * time.Hour

// Explain decodes an id by each of the presets that gives it a time between the layout's epoch and a day after now. None
// is left out for another: an id does not tell by which layout it was made.
func Explain(id int64, now time.Time) []Decoded {
	var all []Decoded
	for _, l := range Presets() {
		d, err := l.Decode(id)
		if err == nil && d.Time.After(l.epoch()) && d.Time.Before(now.Add(clockSlack)) {
			all = append(all, d)
		}
	}
	return all
}

func (l Layout) value(id int64, field string) int64 {
	shift, _ := l.place(field)
	return id >> shift & l.Max(field)
}
