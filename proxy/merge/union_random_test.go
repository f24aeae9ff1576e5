package merge_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/parser"
)

var unionSeed = flag.Uint64("union.seed", 1, "the random statements of TestUnion")

var (
	unionColumns  = []string{"id", "k", "g", "b", "l", "v", "u", "z", "c", "tx", "e", "s", "i", "n", "ti", "d", "f", "x", "x3", "x2", "dt", "da", "tm", "y", "bt", "i0"}
	unionNumbers  = []string{"i", "n", "ti", "d", "x", "x2", "k", "y", "i0"}
	unionExtremes = []string{"id", "g", "b", "l", "v", "u", "z", "c", "tx", "e", "s", "i", "n", "ti", "d", "f", "x", "x3", "x2", "dt", "da", "tm", "y", "i0", "UPPER(b)", "i - 1"}
	unionKeys     = []string{"k", "g", "b", "l", "v", "u", "z", "c", "tx", "e", "s", "i", "ti", "d", "f", "x", "x3", "dt", "da", "tm", "y", "i DIV 3", "UPPER(g)", "LEFT(z, 1)", "YEAR(dt)", "i IS NULL"}
)

// TestUnion holds the merge to what one server makes of the same rows.
func TestUnion(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, rows := range []int{0, 6, 60} {
			seed := *unionSeed
			r := rand.New(rand.NewPCG(seed, 1))
			u := newUnion(t, s, r, rows)
			t.Run(fmt.Sprintf("%d rows seed %d", rows, seed), func(t *testing.T) {
				for range 150 {
					q := randomQuery(r)
					for _, binary := range []bool{false, true} {
						u.check(t, q, binary, parser.ScatterOptions{})
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	})
}

// some gives n different ones of a list.
func some(r *rand.Rand, list []string, n int) []string {
	var chosen []string
	for _, i := range r.Perm(len(list))[:n] {
		chosen = append(chosen, list[i])
	}
	return chosen
}

func direction(r *rand.Rand) string { return []string{"", " DESC", " asc"}[r.IntN(3)] }

func limit(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf(" LIMIT %d", r.IntN(20))
	case 1:
		return fmt.Sprintf(" LIMIT %d, %d", r.IntN(10), r.IntN(20))
	case 2:
		return fmt.Sprintf(" limit %d OFFSET %d", r.IntN(20), r.IntN(10))
	}
	return ""
}

func where(r *rand.Rand) string {
	return []string{"", "", " WHERE i > 0", " WHERE g = 'a' OR id < 10", " WHERE id < 0"}[r.IntN(5)]
}

func randomQuery(r *rand.Rand) query {
	switch r.IntN(6) {
	case 0:
		return randomTotals(r)
	case 1, 2:
		return randomGroups(r)
	case 3:
		return randomDistinct(r)
	}
	return randomPlain(r)
}

func randomPlain(r *rand.Rand) query {
	list := strings.Join(some(r, unionColumns, 1+r.IntN(4)), ", ")
	switch r.IntN(4) {
	case 0:
		list = "*"
	case 1:
		list = "r.*, CONCAT(g, '!') AS g1"
	}
	q := query{sql: "SELECT " + list + " FROM r" + where(r)}
	if r.IntN(4) == 0 {
		q.unordered = true
		return q
	}
	var order []string
	for _, key := range some(r, append(unionKeys, "r.g", "-i", "CONCAT(l, b)", "bt"), r.IntN(3)) {
		order = append(order, key+direction(r))
	}
	q.sql += " ORDER BY " + strings.Join(append(order, "id"+direction(r)), ", ") + limit(r)
	return q
}

func aggregates(r *rand.Rand) []string {
	list := []string{"COUNT(*)"}
	for range 1 + r.IntN(3) {
		switch r.IntN(5) {
		case 0:
			list = append(list, "COUNT("+some(r, unionColumns, 1)[0]+")")
		case 1:
			list = append(list, "SUM("+some(r, unionNumbers, 1)[0]+")")
		case 2:
			list = append(list, "AVG("+some(r, unionNumbers, 1)[0]+")")
		case 3:
			list = append(list, "MIN("+some(r, unionExtremes, 1)[0]+")")
		case 4:
			list = append(list, "max("+some(r, unionExtremes, 1)[0]+") AS m"+fmt.Sprint(len(list)))
		}
	}
	return list
}

func randomTotals(r *rand.Rand) query {
	return query{sql: "SELECT " + strings.Join(append(aggregates(r), "7"), ", ") + " FROM r" + where(r) + limit(r), folded: true}
}

func randomGroups(r *rand.Rand) query {
	groups := some(r, unionKeys, 1+r.IntN(2))
	list := append(aggregates(r), groups...)
	q := query{folded: true}
	var order []string
	for _, g := range groups {
		order = append(order, g+direction(r))
	}
	switch r.IntN(4) {
	case 0:
		q.unordered, order = true, nil
	case 1:
		order = append([]string{"COUNT(*) DESC"}, order...)
	case 2:
		if refused := regexp.MustCompile(`\([esf]\)`); refused.MatchString(list[1]) {
			list[1] = "MIN(g)" // see TestRefused
		}
		order = append([]string{"2" + direction(r), "MIN(id)"}, order...)
	}
	q.sql = "SELECT " + strings.Join(list, ", ") + " FROM r" + where(r) + " GROUP BY " + strings.Join(groups, ", ")
	if order != nil {
		q.sql += " ORDER BY " + strings.Join(order, ", ") + limit(r)
	}
	return q
}

func randomDistinct(r *rand.Rand) query {
	list := some(r, unionKeys, 1+r.IntN(3))
	q := query{sql: "SELECT DISTINCT " + strings.Join(list, ", ") + " FROM r" + where(r), folded: true}
	if r.IntN(3) == 0 {
		q.unordered = true
		return q
	}
	var order []string
	for i, key := range list {
		if r.IntN(2) == 0 {
			key = fmt.Sprint(i + 1)
		}
		order = append(order, key+direction(r))
	}
	q.sql += " ORDER BY " + strings.Join(order, ", ") + limit(r)
	return q
}
