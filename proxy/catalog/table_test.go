package catalog_test

import (
	"math"
	"testing"

	"github.com/seqgate/seqgate/proxy/catalog"
)

func TestIDColumn(t *testing.T) {
	id := catalog.Column{Name: "id", Type: "bigint", Key: "PRI"}
	auto := catalog.Column{Name: "n", Type: "int", Extra: "auto_increment"}
	tests := []struct {
		name    string
		columns []catalog.Column
		kind    string
		want    string
		why     string
	}{
		{"integer primary key", []catalog.Column{{Name: "v"}, id}, "BASE TABLE", "id", ""},
		{"AUTO_INCREMENT wins", []catalog.Column{id, auto}, "BASE TABLE", "n", ""},
		{"AUTO_INCREMENT in a key of two", []catalog.Column{{Name: "a", Type: "int", Key: "PRI"},
			{Name: "b", Type: "int", Key: "PRI", Extra: "auto_increment"}}, "BASE TABLE", "b", ""},
		{"system versioned", []catalog.Column{id}, "SYSTEM VERSIONED", "id", ""},
		{"key of two columns", []catalog.Column{id, {Name: "b", Type: "int", Key: "PRI"}}, "BASE TABLE", "",
			"it has no AUTO_INCREMENT column, and its primary key has 2 columns"},
		{"no key", []catalog.Column{{Name: "v"}}, "BASE TABLE", "", "it has neither an AUTO_INCREMENT column nor a primary key"},
		{"text key", []catalog.Column{{Name: "uuid", Type: "char", Key: "PRI"}}, "BASE TABLE", "",
			"it has no AUTO_INCREMENT column, and its primary key uuid is a char, no integer"},
		{"a kind that is not known", []catalog.Column{id}, "LOCAL BASE TABLE", "id", ""},
		{"view", []catalog.Column{id}, "VIEW", "", "it is no table but a view"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := &catalog.Table{Kind: tt.kind, Columns: tt.columns}
			got, why := table.IDColumn()
			name := ""
			if got != nil {
				name = got.Name
			}
			if name != tt.want || why != tt.why {
				t.Errorf("got %q, %q, want %q, %q", name, why, tt.want, tt.why)
			}
		})
	}
}

func TestMaxID(t *testing.T) {
	tests := []struct {
		column catalog.Column
		want   int64
	}{
		{catalog.Column{Type: "tinyint"}, 127},
		{catalog.Column{Type: "tinyint(10) unsigned"}, 255},
		{catalog.Column{Type: "smallint"}, math.MaxInt16},
		{catalog.Column{Type: "mediumint"}, 1<<23 - 1},
		{catalog.Column{Type: "int"}, math.MaxInt32},
		{catalog.Column{Type: "int(10) unsigned"}, math.MaxUint32},
		{catalog.Column{Type: "bigint"}, math.MaxInt64},
		{catalog.Column{Type: "bigint(10) unsigned"}, math.MaxInt64},
		{catalog.Column{Type: "decimal(5,2)"}, 999},
		{catalog.Column{Type: "char(3)"}, 999},
		{catalog.Column{Type: "varchar(20)"}, math.MaxInt64},
		{catalog.Column{Type: "double"}, 1 << 53},
	}
	for _, tt := range tests {
		if got := tt.column.MaxID(); got != tt.want {
			t.Errorf("largest id of %s: got %d, want %d", tt.column.ShortType(), got, tt.want)
		}
	}
}
