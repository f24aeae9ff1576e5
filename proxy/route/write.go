package route

import (
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// planWrite plans UPDATE and DELETE.
func (s *statement) planWrite(keyspace string) (*Plan, error) {
	p := s.newPlan(Any, keyspace)
	if err := s.checkTargets(); err != nil {
		return nil, err
	}
	if err := s.bindAll(p); err != nil {
		return nil, err
	}
	if p.Explain {
		return p.explained(), nil
	}
	switch {
	case p.Kind == Any:
		p.Kind, p.SameRows, p.Updates = Everywhere, true, s.updates()
		return p, s.severalWriteReason()
	case p.Kind == One && !p.hasParams():
		return p, nil
	case p.several == nil && s.Limit:
		p.several = refuse(s.Name+" with LIMIT over several shards", "query by "+s.key(s.Targets[0]))
	}
	return p, s.mustMerge(p)
}

// severalWriteReason is severalReason as an error.
func (s *statement) severalWriteReason() error {
	if err := s.severalReason(); err != nil {
		return err
	}
	if s.Varies != "" {
		return refuse(s.Varies+" in a write to a reference table, which has the same rows in all shards", "write the value itself")
	}
	if s.Limit {
		return refuse(s.Name+" with LIMIT of a reference table, whose shards may choose different rows", "name the rows in WHERE")
	}
	return nil
}

// updates says which columns an UPDATE sets.
func (s *statement) updates() (all []Update) {
	if s.Kind != parser.RouteUpdate {
		return nil
	}
	for _, t := range s.Targets {
		u := Update{Table: s.Tables[t].Name}
		for _, c := range s.Sets {
			if c.Table == t || c.Table < 0 && len(s.Targets) == 1 {
				u.Columns = append(u.Columns, c.Name)
			}
		}
		all = append(all, u)
	}
	return all
}

// checkTargets refuses writes that would leave rows in a wrong shard, or rows of a reference table different in the
// shards.
func (s *statement) checkTargets() error {
	divided := slices.ContainsFunc(s.tables, func(t table) bool { return t.divided() })
	for _, t := range s.Targets {
		info := &s.tables[t]
		if source := info.sourceName(); source != "" {
			return refuse("writing to the reference table "+s.Tables[t].Name+", a copy of "+source, "write to "+source)
		}
		if info.reference() && divided {
			return refuse("writing to the reference table "+s.Tables[t].Name+" in one statement with tables that are divided among shards",
				"name only the columns to be written with their table, or write in a statement of its own")
		}
	}
	for _, c := range s.Sets {
		for _, t := range s.Targets {
			if (c.Table < 0 || c.Table == t) && s.hasVindexColumn(t, c.Name) {
				return errorf(errUnsupported, "seqgate does not support UPDATE of the column %s: cannot update vindex column of %s, whose rows "+
					"it divides among the shards; insert the row anew and delete the old one", c.Name, s.Tables[t].Name)
			}
		}
	}
	return nil
}

// sourceName names the table that a reference table is a copy of, or is empty.
func (t *table) sourceName() string {
	if !t.reference() || t.model.Source == nil {
		return ""
	}
	return strings.TrimPrefix(t.model.Source.Keyspace+"."+t.model.Source.Table, ".")
}
