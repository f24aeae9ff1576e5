package proxy

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seqgate/seqgate/vschema"
)

// VSchema returns the vschema that statements go by now; nil when there is none.
func (s *Server) VSchema() *vschema.VSchema { return s.catalog.VSchema() }

// SetVSchema makes statements that begin from now on go by another vschema, and
// forgets what was concluded from the one before. The error is that of CheckVSchema;
// nothing has changed then.
func (s *Server) SetVSchema(v *vschema.VSchema) error {
	if err := s.CheckVSchema(v); err != nil {
		return err
	}
	s.catalog.Use(v)
	if err := s.cfg.Generators.Use(v); err != nil {
		s.log.Error("generators of the vschema that cannot be used", "error", err)
	}
	s.segments.note(v)
	s.catalog.Forget()
	return nil
}

// CheckVSchema tells whether a running seqgate can go by a vschema: on the servers
// that it was started with. The error is a vschema.Errors, without a file, of
// everything that speaks against it.
func (s *Server) CheckVSchema(v *vschema.VSchema) error {
	errs := slices.Clone(v.Unserved())
	for _, e := range s.cfg.Generators.Check(v) {
		errs = append(errs, vschema.Error{Path: "keyspaces." + e.Generator.Keyspace + ".generators." + e.Generator.Name, Message: e.Err.Error()})
	}
	for _, k := range v.Keyspaces() {
		if s.cfg.Keyspaces[k.Name] == nil {
			errs = append(errs, misfit(k.Name, "it has no servers: add it to keyspaces in the configuration, and start seqgate again"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Keyspaces)) {
		declared, _ := v.Keyspace(name)
		if reason := s.cfg.Keyspaces[name].Misfits(declared); reason != "" {
			errs = append(errs, misfit(name, reason))
		}
	}
	errs = append(errs, s.segments.changed(v)...)
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// segments are the generators that take segments of another system's counter, by keyspace and name, as they were first
// declared: their sequences stay in memory until the end, whatever a later vschema says.
type segments struct {
	mu    sync.Mutex
	first map[string]string
}

// eachSegments calls f for each such generator.
func eachSegments(v *vschema.VSchema, f func(name, definition string)) {
	if v == nil {
		return
	}
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Segments != nil {
				f(k.Name+".generators."+g.Name, fmt.Sprintf("%s %+v", g.Type, *g.Segments))
			}
		}
	}
}

func (s *segments) note(v *vschema.VSchema) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = make(map[string]string)
	}
	eachSegments(v, func(name, definition string) {
		if _, known := s.first[name]; !known {
			s.first[name] = definition
		}
	})
}

// changed tells of those that a vschema declares in another way than before.
func (s *segments) changed(v *vschema.VSchema) (errs vschema.Errors) {
	s.mu.Lock()
	defer s.mu.Unlock()
	eachSegments(v, func(name, definition string) {
		if before, known := s.first[name]; known && before != definition {
			errs = append(errs, misfit(name, "it was declared otherwise when seqgate was started: start seqgate again, or give it another name"))
		}
	})
	return errs
}

func misfit(keyspace, reason string) vschema.Error {
	return vschema.Error{Path: "keyspaces." + keyspace, Message: reason}
}
