// Package mutation holds what seqgate's tests are held to: deliberate faults in its code, each of which breaks one of the
// promises of docs/internals/architecture.md, and the test that has to fail for it. Package run, below, tries them.
package mutation

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// Mutation is one fault: in File the text Old, which is there once, becomes New.
type Mutation struct {
	Name   string // short, in lower case with hyphens
	Breaks string // what the code does then, in words
	File   string // from the root of the module
	Old    string
	New    string
	Test   string // the test that fails then: a function, or a subtest with the names above it, as in TestStores/mariadb/cas
	In     string // the package of Test, from the root of the module; "" for that of File
}

// Group is the mutations that break one promise.
type Group struct {
	Promise   string
	Mutations []Mutation
}

// All returns every mutation, by promise.
func All() []Group {
	return []Group{
		{"Never the same id twice: sequences", sequences},
		{"Never the same id twice: keyed sequences and worker ids", leases},
		{"Never a wrong write: one server", writes},
		{"Never a wrong write: several shards", shards},
		{"MySQL's own behaviour", behaviour},
		{"Nobody gets what he has no right to", rights},
	}
}

// Package returns the folder of the package that Test is in.
func (m Mutation) Package() string {
	if m.In != "" {
		return m.In
	}
	return path.Dir(m.File)
}

// Function returns the test function that Test is, or is below.
func (m Mutation) Function() string {
	function, _, _ := strings.Cut(m.Test, "/")
	return function
}

// Apply returns the text of File with the fault in it. It is an error when Old is not there, or more than once.
func (m Mutation) Apply(source []byte) ([]byte, error) {
	if n := bytes.Count(source, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("%s: %q is in %s %d times, not once", m.Name, m.Old, m.File, n)
	}
	return bytes.Replace(source, []byte(m.Old), []byte(m.New), 1), nil
}
