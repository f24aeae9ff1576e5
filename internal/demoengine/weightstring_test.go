//go:build !slim

package demoengine

import (
	"bytes"
	"database/sql"
	"testing"
)

// The weights of texts order as the engine orders the texts.
func TestWeightString(t *testing.T) {
	e := newEngine(t)
	c := connect(t, e, "root", "")
	run(t, c, "CREATE TABLE texts (n INT PRIMARY KEY, bin VARCHAR(9) COLLATE utf8mb4_0900_bin, ci VARCHAR(9) COLLATE utf8mb4_0900_ai_ci)",
		"INSERT INTO texts VALUES (1, 'b', 'b'), (2, 'B', 'B'), (3, 'a', 'a'), (4, 'é', 'é'), (5, 'f', 'f'), (6, '', ''), (7, NULL, NULL), (8, 'aa', 'aa')")
	for _, column := range []string{"bin", "ci"} {
		rows, err := c.QueryContext(t.Context(), "SELECT "+column+", WEIGHT_STRING("+column+"), WEIGHT_STRING(n) FROM texts ORDER BY "+column)
		if err != nil {
			t.Fatal(err)
		}
		var last []byte
		for first := true; rows.Next(); first = false {
			var text sql.NullString
			var weight, ofNumber []byte
			if err := rows.Scan(&text, &weight, &ofNumber); err != nil {
				t.Fatal(err)
			}
			if (weight == nil) == text.Valid || ofNumber != nil {
				t.Errorf("%s %v: weight %x, that of a number %x", column, text, weight, ofNumber)
			}
			if !first && bytes.Compare(last, weight) > 0 {
				t.Errorf("%s %v: weight %x is below %x of the text before it", column, text, weight, last)
			}
			last = weight
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := queryInt(t, c, "SELECT WEIGHT_STRING('b' COLLATE utf8mb4_0900_ai_ci) = WEIGHT_STRING('B' COLLATE utf8mb4_0900_ai_ci)"); got != 1 {
		t.Error("texts that the collation takes for equal have different weights")
	}
}

func TestLeftOfNumbers(t *testing.T) {
	e := newEngine(t)
	c := connect(t, e, "root", "")
	run(t, c, "CREATE TABLE numbers (n BIGINT PRIMARY KEY, d DATETIME)", "INSERT INTO numbers VALUES (1234, '2026-01-02 03:04:05')")
	if got := queryInt(t, c, "SELECT LEFT(n, 2) FROM numbers"); got != 12 {
		t.Errorf("LEFT(1234, 2) = %d, want 12", got)
	}
	if got := queryInt(t, c, "SELECT LEFT(d, 4) FROM numbers"); got != 2026 {
		t.Errorf("LEFT of a time = %d, want 2026", got)
	}
	if got := queryInt(t, c, "SELECT LEFT('987', 2)"); got != 98 {
		t.Errorf("LEFT('987', 2) = %d, want 98", got)
	}
}
