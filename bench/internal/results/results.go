// Package results holds what one run of the benchmark beside its peers has measured. It is kept as JSON, so that tables and
// figures can be made anew from it without measuring.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Seqgate is the name of the target that the others are peers of.
const Seqgate = "seqgate"

// Run is one run. Its parts were measured with the same settings, each on its own in any order.
type Run struct {
	ID      string        `json:"id"`
	Machine string        `json:"machine"` // a Markdown list
	Rounds  int           `json:"rounds"`
	Slice   time.Duration `json:"slice_ns"`
	Parts   []Part        `json:"parts"`
}

// Part is one question of a run, put to one server.
type Part struct {
	Name   string             `json:"name"`             // of one of [Kinds]
	Server string             `json:"server,omitempty"` // its version; "" where no server took part
	Notes  []string           `json:"notes,omitempty"`  // what was not measured, and why
	Points []Point            `json:"points,omitempty"`
	Memory map[string]float64 `json:"memory,omitempty"` // bytes of a hop for each idle connection, by target
	Text   string             `json:"text,omitempty"`   // the Markdown of a part that another program has measured
}

// Point is a statement at one target and one size.
type Point struct {
	Statement string             `json:"statement"`
	Target    string             `json:"target"`
	X         int                `json:"x"`   // what the part's axis counts, such as connections
	Per       int                `json:"per"` // what a statement counts for: 1, or its rows
	Samples   []Sample           `json:"samples"`
	Facts     map[string]float64 `json:"facts,omitempty"` // further figures, by their names with units
}

// Sample is what one slice of time gave. The i-th samples of the points with one statement and one X are of one round.
type Sample struct {
	Queries int           `json:"queries"`
	Elapsed time.Duration `json:"elapsed_ns"`
	P50     time.Duration `json:"p50_ns"` // from the call to the end of the answer
	P99     time.Duration `json:"p99_ns"`
	CPU     time.Duration `json:"cpu_ns"` // of the hop, user and kernel
}

// Rate is queries a second.
func (s Sample) Rate() float64 { return float64(s.Queries) / s.Elapsed.Seconds() }

// Part returns the part of that name and server, nil if it was not measured.
func (r *Run) Part(name, server string) *Part {
	i := slices.IndexFunc(r.Parts, func(p Part) bool { return p.Name == name && p.Server == server })
	if i < 0 {
		return nil
	}
	return &r.Parts[i]
}

// Save writes the run to a file, whose folder is made. The file is whole at any time.
func (r *Run) Save(file string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// Load reads what [Run.Save] has written. Its error is [fs.ErrNotExist] where there is no file.
func Load(file string) (*Run, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &r, nil
}

// LoadAll reads the files of one run, whose parts come together. Files of different runs are refused: they were measured
// under different conditions. So is a part that two files have.
func LoadAll(files ...string) (*Run, error) {
	var all *Run
	for _, file := range files {
		r, err := Load(file)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
			continue
		}
		if err := all.add(r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if all == nil {
		return nil, errors.New("no file of results is named")
	}
	return all, nil
}

func (r *Run) add(other *Run) error {
	if other.ID != r.ID || other.Rounds != r.Rounds || other.Slice != r.Slice {
		return fmt.Errorf("run %s (%d rounds of %v) is not run %s (%d of %v)", other.ID, other.Rounds, other.Slice, r.ID, r.Rounds, r.Slice)
	}
	for _, p := range other.Parts {
		if r.Part(p.Name, p.Server) != nil {
			return fmt.Errorf("part %s on %s is there already", p.Name, p.Server)
		}
		r.Parts = append(r.Parts, p)
	}
	return nil
}

// Resume reads the run in file to go on with it. With no file it returns fresh.
func Resume(file string, fresh *Run) (*Run, error) {
	r, err := Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, err
	}
	if r.Rounds != fresh.Rounds || r.Slice != fresh.Slice {
		return nil, fmt.Errorf("%s was measured in %d rounds of %v: go on with these", file, r.Rounds, r.Slice)
	}
	return r, nil
}
