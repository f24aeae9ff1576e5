// Package leasesoak has many processes lease worker ids from one table and give snowflake ids, kills, freezes and cuts them
// off, sets their clocks, and checks that no id comes twice. Its tests do that; the package itself is what processes tell
// ([Event]) and the judge of it ([Checker]).
package leasesoak

import (
	"encoding/json"
	"fmt"
	"time"
)

// What an [Event] tells.
const (
	Take = "take" // a worker id was acquired, or acquired again with the same token
	Hold = "hold" // its lease was extended
	Drop = "drop" // it is about to be released
	Give = "give" // ids were given
	Fail = "fail" // there were no ids
)

// Event is what a process tells of itself. It does so before it acts on it: what a process was told by its Leaser it tells
// before it gives an id because of it. So of a process that was killed only ids that nobody has seen are unknown.
type Event struct {
	Kind string `json:"kind"`

	// Of Take, Hold and Drop: the tenure, which a token and a worker id name, when the Leaser was asked and has answered by
	// the machine's clock, and for how long after Sent nobody else may get the worker id.
	Token      string        `json:"token,omitempty"`
	Worker     int64         `json:"worker,omitempty"`
	Sent       time.Time     `json:"sent,omitzero"`
	Done       time.Time     `json:"done,omitzero"`
	Lease      time.Duration `json:"lease,omitempty"`
	Quarantine time.Duration `json:"quarantine,omitempty"`

	// Of Take and Hold: ids may be given of times after After and up to Until. After is zero for a worker id that nobody
	// has had.
	After time.Time `json:"after,omitzero"`
	Until time.Time `json:"until,omitzero"`

	Runs [][2]int64 `json:"runs,omitempty"` // of Give: the first id of each run of ids, and how many they are
	Text string     `json:"text,omitempty"` // of Fail: the error
}

// Line returns the event as one line.
func (e Event) Line() ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Kind, err)
	}
	return append(line, '\n'), nil
}

// ParseEvent reads what [Event.Line] has written. It returns an error for a line that a process which was killed has not
// ended, too.
func ParseEvent(line []byte) (e Event, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("event %q: %w", line, err)
	}
	return e, nil
}
