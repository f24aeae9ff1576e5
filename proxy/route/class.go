package route

import (
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/vschema"
)

// class says how a column compares with a constant, for the question whether all rows that are equal to the constant are
// where the vindex puts the constant.
type class uint8

const (
	classUnknown class = iota // a decimal, a date, ...: no constant tells
	classNumber               // as whole numbers
	classText                 // as text, by its bytes: equal texts of other bytes, by case, are not looked for, as in Vitess
	classAny                  // every value is in the same place
)

// numberVindexes take whole numbers: a text that they do not take is in no row.
const numberVindexes = " hash numeric reverse_bits numeric_static_map modulo region_experimental "

// ColumnTypes returns the type of a table's column as a server tells it, such as "int(11)"; "" when there is no such column,
// and not known when no server tells.
type ColumnTypes func(keyspace, table, column string) (typ string, known bool)

// vindexClass returns the class of column i of the vindex of table t. Without a type in the vschema the servers are asked:
// whether '05' is in the place of 5, and 'A' where it stands, depends on it.
func (s *statement) vindexClass(t int, v vschema.ColumnVindex, i int) class {
	switch kind := columnVindexType(v, i); {
	case kind == "null":
		return classAny
	case takesNumbers(kind):
		return classNumber
	}
	c := column{t, strings.ToLower(v.Columns[i])}
	if typ := s.typeOf(c); typ != "" || s.planner.types != nil {
		return typeClass(typ)
	}
	return classText
}

// takesNumbers reports whether the type of vindex takes whole numbers only, and no NULL.
func takesNumbers(vindexType string) bool {
	return strings.Contains(numberVindexes, " "+vindexType+" ")
}

// typeOf returns the type of the column, "" for none and when it is not known.
func (s *statement) typeOf(c column) string {
	typ, _ := s.lookup(c)
	return typ
}

// lookup returns the type of the column, from the vschema or else from the servers. known says that these told, also that
// there is no such column.
func (s *statement) lookup(c column) (typ string, known bool) {
	info, types := &s.tables[c.table], s.planner.types
	if declared, ok := info.model.Column(c.name); ok && declared.Type != "" {
		return declared.Type, true
	}
	if types == nil {
		return "", false
	}
	found, asked := s.types[c]
	if !asked {
		found.typ, found.known = types(info.keyspace, info.model.Name, c.name)
		if s.types == nil {
			s.types = map[column]columnType{}
		}
		s.types[c] = found
		s.untyped = s.untyped || !found.known
	}
	return found.typ, found.known
}

// columnType is what ColumnTypes says.
type columnType struct {
	typ   string
	known bool
}

// typeClass returns the class of columns of a type, as a vschema or a server names it. Of types that store a value in a way
// of their own, as DATE and ENUM do, no constant tells the place.
func typeClass(name string) class {
	name, _, _ = strings.Cut(strings.ToLower(name), "(")
	name, _, _ = strings.Cut(name, " ")
	switch whole := strings.TrimPrefix(name, "u"); {
	case strings.HasPrefix(whole, "int"), strings.Contains(" tinyint smallint mediumint bigint ", " "+name+" "):
		return classNumber
	case strings.Contains(" varchar char varbinary binary tinytext text mediumtext longtext tinyblob blob mediumblob longblob ", " "+name+" "):
		return classText
	}
	return classUnknown
}

// columnVindexType returns the type of the vindex that maps column i: those of several columns have one for each.
func columnVindexType(v vschema.ColumnVindex, i int) string {
	switch v.Type {
	case "region_json":
		if i == 0 {
			return "hash"
		}
		return "region_json"
	case "multicol":
		names := strings.Split(v.Params["column_vindex"], ",")
		if i < len(names) && strings.TrimSpace(names[i]) != "" {
			return strings.TrimSpace(names[i])
		}
		return "hash"
	}
	return v.Type
}

// exact returns the value as the vindex is to take it. It reports false when rows that are equal to the value may be
// elsewhere than the value.
func (c class) exact(v vschema.Value) (vschema.Value, bool) {
	switch {
	case v.IsNull() || c == classAny:
		return v, true
	case c == classNumber && v.IsNumber():
		return v, true
	case c == classNumber && !v.IsBits():
		return wholeNumber(v.Bytes())
	case c == classText:
		return v, !v.IsNumber()
	}
	return v, false
}

// wholeNumber returns the number that the text is, written in the one way that MySQL writes it.
func wholeNumber(text []byte) (vschema.Value, bool) {
	if len(text) == 0 || len(text) > 20 {
		return vschema.Value{}, false
	}
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && (len(digits) > 1 || len(text) > 1) {
		return vschema.Value{}, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return vschema.Value{}, false
		}
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return vschema.Int(n), true
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	return vschema.Uint(n), err == nil
}
