package vschema

import (
	"slices"
	"strings"
)

// Suggest helps the writer of a wrong word: `did you mean "x"?` with the nearest of the known words, or
// `write one of a, b, c` when none is near. Empty words do not count; it is empty when nothing is known.
func Suggest(word string, known []string) string {
	known = slices.DeleteFunc(slices.Sorted(slices.Values(known)), func(k string) bool { return k == "" })
	if near, ok := nearest(word, known); ok {
		return `did you mean "` + near + `"?`
	}
	switch len(known) {
	case 0:
		return ""
	case 1:
		return "write " + known[0]
	}
	return "write one of " + strings.Join(known, ", ")
}

// nearest returns the known word that the fewest single-letter edits make of word, when these are few for its length.
func nearest(word string, known []string) (string, bool) {
	best, at := max(1, len(word)/3), -1
	for i, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d < len(word) && d <= best && (at < 0 || d < best) {
			best, at = d, i
		}
	}
	if at < 0 {
		return "", false
	}
	return known[at], true
}

// distance counts the letters to insert, remove, replace or swap with their neighbour that make b of a (the optimal
// string alignment distance), in bytes.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d[i][j] = min(replace, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
