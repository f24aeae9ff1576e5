package route

import (
	"errors"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// readScatter says how the SELECT's answers merge, or why they cannot.
func (s *statement) readScatter() (*parser.Scatter, *Error) {
	scatter, err := parser.ReadScatter(s.sql, s.mode, parser.ScatterOptions{GroupsLocal: s.groupsLocal, HasColumn: s.hasColumn, Numbers: s.numbers})
	if err == nil {
		return scatter, nil
	}
	s.inexact = true // GROUP BY 2 may be refused where GROUP BY 1 is not
	reason := err.Error()
	var unsupported *parser.UnsupportedError
	if errors.As(err, &unsupported) {
		reason = unsupported.Form
	}
	return nil, refuse(reason+" over several shards", "query by "+s.key(s.firstDivided()))
}

func (s *statement) firstDivided() int {
	return max(0, slices.IndexFunc(s.tables, func(t table) bool { return t.divided() }))
}

// groupsLocal reports whether rows that are equal in these columns are in one shard: when all columns of a table's
// primary vindex are among them, and compare as numbers: texts may be equal that the vindex tells apart.
func (s *statement) groupsLocal(columns []parser.ColumnName) bool {
	for t := range s.tables {
		v := s.tables[t].primary
		if v == nil || s.Blocks[s.Tables[t].Block].Parent >= 0 || s.Tables[t].Optional {
			continue
		}
		all := true
		for i, name := range v.Columns {
			all = all && s.vindexClass(t, *v, i) == classNumber && slices.ContainsFunc(columns, func(c parser.ColumnName) bool { return s.isColumn(c, t, name) })
		}
		if all {
			return true
		}
	}
	return false
}

// hasColumn reports whether a table of the statement's own FROM clause has a column of that name.
func (s *statement) hasColumn(name string) (has, known bool) {
	for t := range s.tables {
		if s.Blocks[s.Tables[t].Block].Parent >= 0 {
			continue
		}
		typ, told := s.lookup(column{t, strings.ToLower(name)})
		if typ != "" || s.hasVindexColumn(t, strings.ToLower(name)) {
			return true, true
		}
		if !told {
			return false, false
		}
	}
	return false, !s.hasExpressions()
}

// hasExpressions reports whether there are derived tables or WITH clauses, whose columns are not known.
func (s *statement) hasExpressions() bool {
	return slices.ContainsFunc(s.Blocks, func(b parser.RouteBlock) bool { return b.Derived })
}

// isColumn reports whether the name is the vindex column of table t.
func (s *statement) isColumn(c parser.ColumnName, t int, name string) bool {
	if !strings.EqualFold(c.Column, name) {
		return false
	}
	if c.Table == "" {
		found, ok := s.resolveColumn(parser.RouteColumn{Table: -1, Block: s.Tables[t].Block, Name: strings.ToLower(name)})
		return ok && found.table == t
	}
	if alias := s.Tables[t].Alias; alias != "" {
		return c.Schema == "" && strings.EqualFold(c.Table, alias)
	}
	return strings.EqualFold(c.Table, s.Tables[t].Name)
}

// appendScatter appends the text whose answers merge, with the databases' names.
func (p *Plan) appendScatter(dst, sql []byte, database func(keyspace string) string) []byte {
	return p.Scatter.AppendEdited(dst, len(sql), func(dst []byte, start, end int) []byte {
		return p.appendPart(dst, sql, start, end, database)
	})
}
