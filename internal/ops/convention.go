package ops

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// sequenceComment is what Vitess marks sequence tables with, anywhere in their comment
// (go/vt/vttablet/tabletserver/schema/load_table.go in v0.22.1).
const sequenceComment = "vitess_sequence"

// columnOf finds a column by its name, which has no case.
func columnOf(t *catalog.Table, name string) (catalog.Column, bool) {
	c := t.Column(name)
	if c == nil {
		return catalog.Column{}, false
	}
	return *c, true
}

// hasSequenceColumns reports whether the table could be a sequence table by its columns.
func hasSequenceColumns(t *catalog.Table) bool { return t.IsBase() && t.LooksLikeSequence() }

func hasSequenceComment(t *catalog.Table) bool { return strings.Contains(t.Comment, sequenceComment) }

// maxValue is the last id that a sequence may give, by CREATE SEQUENCE ... MAXVALUE.
func maxValue(t *catalog.Table) int64 {
	o, _ := sequence.ParseComment(t.Comment)
	return cmp.Or(o.Max, math.MaxInt64)
}

// sequenceFaults says why ids cannot be taken from the table, and what to do.
func sequenceFaults(t *catalog.Table, quoted string) []string {
	if !hasSequenceColumns(t) {
		return []string{"is no sequence table: it needs the columns id, next_id and cache"}
	}
	var faults []string
	if !hasSequenceComment(t) {
		faults = append(faults, fmt.Sprintf("lacks the comment of a sequence: ALTER TABLE %s COMMENT '%s'", quoted, sequenceComment))
	}
	if !strings.EqualFold(t.Engine, "InnoDB") {
		faults = append(faults, fmt.Sprintf("has the engine %s, which has no transactions: ALTER TABLE %s ENGINE = InnoDB", t.Engine, quoted))
	}
	return faults
}

// TableName is a table of a keyspace.
type TableName struct {
	Keyspace, Table string
}

// String returns keyspace.table on one line, whatever the names hold: no control character reaches a terminal.
func (n TableName) String() string { return printable(n.Keyspace + "." + n.Table) }

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// binding is a sequence and what it fills.
type binding struct {
	sequence TableName
	fills    []filled // none: the sequence is only asked by SELECT NEXT VALUE
}

type filled struct {
	TableName
	column string
	key    string // the column by whose value a keyed sequence counts; "" of others
}

// bindings says what each sequence fills: by the vschema, or else by the convention in the servers' tables.
func bindings(cfg *config.Config, ss servers) []binding {
	all := map[TableName][]filled{}
	if cfg.VSchema != nil {
		vschemaBindings(cfg, all)
	} else {
		for _, s := range ss {
			if s.Shard == "" { // a sharded keyspace needs a vschema
				s.conventionBindings(all)
			}
		}
	}
	list := make([]binding, 0, len(all))
	for sequence, fills := range all {
		list = append(list, binding{sequence, fills})
	}
	slices.SortFunc(list, func(a, b binding) int { return strings.Compare(a.sequence.String(), b.sequence.String()) })
	return list
}

func vschemaBindings(cfg *config.Config, all map[TableName][]filled) {
	for _, k := range cfg.VSchema.Keyspaces() {
		for _, t := range k.Tables() {
			if a := t.AutoIncrement; a != nil {
				if name := sequenceOf(a); name.Table != "" {
					all[name] = append(all[name], filled{TableName{k.Name, t.Name}, a.Column, a.Key})
				}
			}
			name := TableName{k.Name, t.Name}
			if _, bound := all[name]; t.Type == vschema.Sequence && !bound {
				all[name] = nil
			}
		}
	}
}

// sequenceOf returns the sequence whose ids a column is filled with. Those of a Redis counter are its guard's too.
func sequenceOf(a *vschema.AutoIncrement) TableName {
	if a.Generator != nil && a.Generator.Segments != nil {
		return TableName{a.Generator.Segments.GuardKeyspace, a.Generator.Segments.GuardTable}
	}
	return TableName{a.SequenceKeyspace, a.SequenceTable}
}

// conventionBindings finds each table t beside a sequence table t_seq, and the sequence tables of other names.
func (s *Server) conventionBindings(all map[TableName][]filled) {
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		t := s.Tables[name]
		if !hasSequenceColumns(t) {
			continue
		}
		if f, ok := s.conventionFill(name); ok {
			all[TableName{s.Keyspace, name}] = []filled{f}
		} else if hasSequenceComment(t) {
			all[TableName{s.Keyspace, name}] = nil
		}
	}
}

// conventionFill finds the column that the convention fills from the sequence table of that name.
func (s *Server) conventionFill(sequence string) (filled, bool) {
	if s.foldsNames {
		sequence = strings.ToLower(sequence)
	}
	name, ok := strings.CutSuffix(sequence, catalog.SequenceSuffix)
	t, exists := s.table(name)
	if !ok || !exists || strings.HasSuffix(name, catalog.SequenceSuffix) {
		return filled{}, false
	}
	column, _ := t.IDColumn()
	if column == nil {
		return filled{}, false
	}
	return filled{TableName: TableName{s.Keyspace, name}, column: column.Name}, true
}

// unusable says which tables beside a t_seq the convention does not fill, and why.
func (s *Server) unusable() map[TableName]string {
	reasons := map[TableName]string{}
	for name, t := range s.Tables {
		beside, ok := s.table(name + catalog.SequenceSuffix)
		if !ok || strings.HasSuffix(name, catalog.SequenceSuffix) {
			continue
		}
		key := TableName{s.Keyspace, name}
		if _, why := t.IDColumn(); why != "" {
			reasons[key] = why
		}
		if !hasSequenceColumns(beside) {
			reasons[key] = name + catalog.SequenceSuffix + " is no sequence table: it needs the columns id, next_id and cache"
		}
	}
	return reasons
}
