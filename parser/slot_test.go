package parser

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlots(t *testing.T) {
	sql := "insert into t(a,id) values(?,?),(1,null),(?,7),(?,?+?),('a',now()),(?,default)"
	s, err := ParseInsert([]byte(sql), Mode{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		column string
		want   []Slot
	}{
		{"ID", []Slot{
			{State: Param, Param: 1}, {State: Open, Param: 2}, {State: Explicit, HasValue: true, Value: 7, Param: 3},
			{State: Unknown, Param: 4}, {State: Unknown, Param: 6}, {State: Open, Param: 7},
		}},
		{"absent", []Slot{
			{Param: 2}, {Param: 2}, {Param: 3}, {Param: 6}, {Param: 6}, {Param: 7},
		}},
	}
	for _, test := range tests {
		t.Run(test.column, func(t *testing.T) {
			got, err := s.Slots(nil, []byte(sql), test.column, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Slots differ (-want +got):\n%s", diff)
			}
		})
	}
}

// What a backslash and a 0 are depends on the sql_mode.
func TestSlotsByMode(t *testing.T) {
	for sql, modes := range map[string]map[Mode]Slot{
		`insert into t(a,b,id) values('\',',',0)`: {
			{NoBackslashEscapes: true}:                          {State: Open},
			{NoBackslashEscapes: true, NoAutoValueOnZero: true}: {State: Explicit, HasValue: true},
		},
		`insert into t(a,id) values('\\',0)`: {{}: {State: Open}, {NoAutoValueOnZero: true}: {State: Explicit, HasValue: true}},
		`insert into t(a,id) values('\'',0)`: {{}: {State: Open}},
	} {
		for m, want := range modes {
			s, err := ParseInsert([]byte(sql), m)
			if err != nil {
				t.Errorf("%s in %+v: %v", sql, m, err)
				continue
			}
			if got, err := s.Slots(nil, []byte(sql), "id", nil); err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%s in %+v: got %+v, %v, want %+v", sql, m, got, err, want)
			}
		}
	}
}

func TestSlotsOfSet(t *testing.T) {
	sql := "insert into t set a=?, id=?, b=? on duplicate key update a=?"
	s, err := ParseInsert([]byte(sql), Mode{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Slots(nil, []byte(sql), "id", nil)
	if want := []Slot{{State: Param, Param: 1}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("Slots = %+v, %v, want %+v", got, err, want)
	}
	got, err = s.Slots(got[:0], []byte(sql), "absent", nil)
	if want := []Slot{{Param: 3}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("Slots = %+v, %v, want %+v", got, err, want)
	}
	if s.Params != 4 {
		t.Errorf("Params = %d, want 4", s.Params)
	}
}

func TestSlotsErrors(t *testing.T) {
	reads := &UnsupportedError{Form: "INSERT in which a value reads the column id", Table: "ua"}
	tests := []struct {
		name    string
		sql     string
		columns []string
		want    error
		refused bool
	}{
		{"too many values", "insert into ua(val) values('x','y')", nil, &ColumnCountError{1}, true},
		{"in another row", "insert into ua(id) values(1),(2,3)", nil, &ColumnCountError{2}, true},
		{"empty row", "insert into ua(id) values()", nil, &ColumnCountError{1}, true},
		{"not empty row", "insert into ua values (),(1)", nil, &ColumnCountError{2}, true},
		{"no list", "insert into ua values (1,2)", uaColumns, &ColumnCountError{1}, true},
		{"twice", "insert into ua(id,ID) values(1,2)", nil, &DuplicateColumnError{"id"}, true},
		{"twice in set", "insert into ua set id=1, ua.id=2", nil, &DuplicateColumnError{"id"}, true},
		{"columns not known", "insert into ua values (1,2)", nil, ErrColumnsUnknown, false},
		{"read", "insert into ua(id,n) values(null,id+1)", nil, reads, false},
		{"read in set", "insert into ua set id=0, n=`ua`.`ID`", nil, reads, false},
		{"read in a subquery", "insert into ua(id,n) values(null,(select id))", nil, reads, false},
		{"read in another row", "insert into ua(id,n) values(7,id),(null,2)", nil, reads, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseInsert([]byte(test.sql), Mode{})
			if err != nil {
				t.Fatal(err)
			}
			slots, err := s.Slots([]Slot{{Param: 5}}, []byte(test.sql), "id", test.columns)
			if diff := cmp.Diff(test.want, err, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
			if got := errors.Is(err, ErrServerRefuses); got != test.refused {
				t.Errorf("errors.Is(%v, ErrServerRefuses) = %v, want %v", err, got, test.refused)
			}
			if len(slots) != 1 || slots[0].Param != 5 {
				t.Errorf("slots are %v, want only what was there", slots)
			}
		})
	}
}

func TestSlotsReadsOther(t *testing.T) {
	for _, sql := range []string{
		"insert into ua(id,n) values(1,id+1)",
		"insert into ua(id,n) values(null,'id'),(default(id),concat('id'))",
		"insert into ua(id,n) values(null,(select count(*) from ua where id = (select id)))",
		"insert into ua(n,val) values(id,1)",
	} {
		s, err := ParseInsert([]byte(sql), Mode{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Slots(nil, []byte(sql), "id", nil); err != nil {
			t.Errorf("Slots(%q): %v, want no error", sql, err)
		}
	}
}
