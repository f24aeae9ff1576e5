package vschema

import (
	"encoding/json"
	"strings"
)

// What Vitess's vschema may hold and this version does not serve is still read, so that a slip in it is told now.

func (d *decoder) checkPercent(n *node) {
	number, ok := n.value.(json.Number)
	if p, err := number.Float64(); !ok || err != nil || p < 0 || p > 100 {
		d.wrongType(n, "a number from 0 to 100")
	}
}

func (d *decoder) checkColumnType(n *node) { d.columnType(n) }

// columnTypes are the names of query.Type in Vitess v0.22.1 (proto/query.proto).
var columnTypes = strings.Fields(`NULL_TYPE INT8 UINT8 INT16 UINT16 INT24 UINT24 INT32 UINT32 INT64 UINT64 FLOAT32 FLOAT64
	TIMESTAMP DATE TIME DATETIME YEAR DECIMAL TEXT BLOB VARCHAR VARBINARY CHAR BINARY BIT ENUM SET TUPLE GEOMETRY JSON
	EXPRESSION HEXNUM HEXVAL BITNUM VECTOR RAW ROW_TUPLE`)

// sqlTypes are the types that Vitess names otherwise than SQL does.
var sqlTypes = map[string]string{
	"TINYINT": "INT8", "SMALLINT": "INT16", "MEDIUMINT": "INT24", "INT": "INT32", "INTEGER": "INT32", "BIGINT": "INT64",
	"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64",
}

func (d *decoder) columnType(n *node) string {
	if s, ok := n.value.(string); ok && sqlTypes[strings.ToUpper(s)] != "" {
		d.fail(n, "unknown value %q: write Vitess's name of it, %s", s, sqlTypes[strings.ToUpper(s)])
		return s
	}
	return d.oneOf(n, columnTypes...)
}
