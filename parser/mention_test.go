package parser

import (
	"strings"
	"testing"
)

func TestMentions(t *testing.T) {
	tests := []struct {
		sql, word string
		want      bool
	}{
		{"select LAST_insert_ID()", "last_insert_id", true},
		{"last_insert_id", "last_insert_id", true},
		{"xlast_insert_id(), last_insert_id_, my_last_insert_id", "last_insert_id", false},
		{"my_last_insert_id, `last_insert_id`", "last_insert_id", true},
		{"select 'id'", "id", true},
		{"idid id1 1id $id id$", "id", false},
		{"a.ID=1", "Id", true},
		{"/*!50000id */", "id", true},
		{"/*M!100100id */", "id", true},
		{"!50000id, *!1id", "id", false},
		{"i", "id", false},
		{"", "id", false},
		{"id", "", false},
		{"\xc3\xa4id", "id", true},
		{strings.Repeat("_", 1000) + " q_", "q_", true},
	}
	for _, test := range tests {
		if got := ContainsWord([]byte(test.sql), test.word); got != test.want {
			t.Errorf("ContainsWord(%q, %q) = %v, want %v", test.sql, test.word, got, test.want)
		}
	}
}

func TestMentionsLastInsertID(t *testing.T) {
	tests := []struct {
		sql  string
		want bool
	}{
		{"select last_insert_id()", true},
		{"select @@IDENTITY", true},
		{"select @@session.last_insert_id", true},
		{"select identity_card from t", false},
		{"select 1", false},
	}
	for _, test := range tests {
		if got := MentionsLastInsertID([]byte(test.sql)); got != test.want {
			t.Errorf("MentionsLastInsertID(%q) = %v, want %v", test.sql, got, test.want)
		}
	}
}

// A text full of the letter that is searched for, in one case, is searched once, not
// again from each of them on: at one pass for each letter this takes minutes.
func TestMentionsTakesOnePass(t *testing.T) {
	for _, letters := range []string{"XYV", "xyv"} {
		sql := []byte(strings.Repeat(letters, 1<<20))
		if MentionsLastInsertID(sql) || ContainsWord(sql, "yvonne") || MayCall(sql) {
			t.Errorf("%q found", letters)
		}
	}
}
