package main

import (
	"math"
	"testing"
)

func TestIDColumn(t *testing.T) {
	id := dbColumn{name: "id", dataType: "bigint", primary: true}
	auto := dbColumn{name: "n", dataType: "int", autoIncrement: true}
	tests := []struct {
		name    string
		columns []dbColumn
		kind    string
		want    string
		why     string
	}{
		{"integer primary key", []dbColumn{{name: "v"}, id}, "BASE TABLE", "id", ""},
		{"AUTO_INCREMENT wins", []dbColumn{id, auto}, "BASE TABLE", "n", ""},
		{"AUTO_INCREMENT in a key of two", []dbColumn{{name: "a", dataType: "int", primary: true},
			{name: "b", dataType: "int", primary: true, autoIncrement: true}}, "BASE TABLE", "b", ""},
		{"system versioned", []dbColumn{id}, "SYSTEM VERSIONED", "id", ""},
		{"key of two columns", []dbColumn{id, {name: "b", dataType: "int", primary: true}}, "BASE TABLE", "",
			"it has no AUTO_INCREMENT column, and its primary key has 2 columns"},
		{"no key", []dbColumn{{name: "v"}}, "BASE TABLE", "", "it has neither an AUTO_INCREMENT column nor a primary key"},
		{"text key", []dbColumn{{name: "uuid", dataType: "char", primary: true}}, "BASE TABLE", "",
			"it has no AUTO_INCREMENT column, and its primary key uuid is a char, no integer"},
		{"view", []dbColumn{id}, "VIEW", "", "it is no table but a view"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := &dbTable{kind: tt.kind, columns: tt.columns}
			got, why := table.idColumn()
			if got.name != tt.want || why != tt.why {
				t.Errorf("idColumn() = %q, %q, want %q, %q", got.name, why, tt.want, tt.why)
			}
		})
	}
}

func TestMaxID(t *testing.T) {
	tests := []struct {
		column dbColumn
		want   int64
	}{
		{dbColumn{dataType: "tinyint"}, 127},
		{dbColumn{dataType: "tinyint", unsigned: true}, 255},
		{dbColumn{dataType: "smallint"}, math.MaxInt16},
		{dbColumn{dataType: "mediumint"}, 1<<23 - 1},
		{dbColumn{dataType: "int"}, math.MaxInt32},
		{dbColumn{dataType: "int", unsigned: true}, math.MaxUint32},
		{dbColumn{dataType: "bigint"}, math.MaxInt64},
		{dbColumn{dataType: "bigint", unsigned: true}, math.MaxInt64},
		{dbColumn{dataType: "varchar"}, 0},
	}
	for _, tt := range tests {
		if got := tt.column.maxID(); got != tt.want {
			t.Errorf("maxID of %s = %d, want %d", tt.column.typeName(), got, tt.want)
		}
	}
}
