package keyed

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/seqgate/seqgate/internal/servertest"
)

// compared lists the scripts whose letters, and all ASCII characters, canonical compares at least as coarsely as the
// collations that belong to no language.
var compared = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x01, Hi: 0x7f, Stride: 1},
	{Lo: 0xc0, Hi: 0x17f, Stride: 1},    // Latin
	{Lo: 0x386, Hi: 0x3ce, Stride: 1},   // Greek
	{Lo: 0x400, Hi: 0x45f, Stride: 1},   // Cyrillic
	{Lo: 0x3041, Hi: 0x3096, Stride: 1}, // Hiragana
	{Lo: 0x30a1, Hi: 0x30f6, Stride: 1}, // Katakana
	{Lo: 0x4e00, Hi: 0x9fff, Stride: 1}, // Han
	{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul
}}

// Every two characters that a server's collation takes for equal have one canonical form, and those that it ignores none.
func TestCollations(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		collations := []string{"utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci"}
		if s.IsMariaDB() {
			collations = append(collations, "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_as_cs", "utf8mb4_nopad_bin")
		} else {
			collations = append(collations, "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin")
		}
		db := s.Open(t, s.NewDatabase(t))
		exec := func(query string) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		exec("CREATE TABLE chars (c INT PRIMARY KEY, s VARCHAR(4) CHARACTER SET utf8mb4)")
		var values []string
		for r := range rune(0xffff) {
			if unicode.Is(compared, r) {
				values = append(values, fmt.Sprintf("(%d,X'%x')", r, string(r)))
			}
		}
		for r := range 36 * 36 { // two characters may equal one
			values = append(values, fmt.Sprintf("(%d,'%c%c')", -1-r, alphanumeric[r/36], alphanumeric[r%36]))
		}
		exec("INSERT INTO chars VALUES " + strings.Join(values, ","))
		for _, collation := range collations {
			t.Run(collation, func(t *testing.T) {
				rows, err := db.QueryContext(t.Context(), "SELECT s, HEX(WEIGHT_STRING(s COLLATE "+collation+")) FROM chars")
				if err != nil {
					t.Fatal(err)
				}
				defer rows.Close()
				first := map[string]string{"": ""} // of each weight
				for rows.Next() {
					var text, weight string
					if err := rows.Scan(&text, &weight); err != nil {
						t.Fatal(err)
					}
					other, ok := first[weight]
					if !ok {
						first[weight] = text
						continue
					}
					if got, want := inWord(text), inWord(other); got != want {
						t.Errorf("%q is %q for the server: got %q, want %q", text, other, got, want)
					}
				}
				if err := rows.Err(); err != nil {
					t.Fatal(err)
				}
				if len(first) < 30_000 {
					t.Errorf("got %d different weights, want over 30,000", len(first))
				}
			})
		}
	})
}

const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyz"

// inWord returns the canonical form of s between letters, where spaces and digits count as they are.
func inWord(s string) string { return string(canonical(nil, []byte("x"+s+"x"))) }
