package main

import (
	"fmt"
	"strings"
)

// namedTable is a table with its name in docs/internals/scale.md.
type namedTable struct {
	name  string
	table table
}

// allTables runs all fleets of docs/internals/scale.md.
func allTables(seed uint64) []namedTable {
	world, base := simulate(big(), seed)
	var herd []recovery
	for _, f := range herds(big()) {
		herd = append(herd, world.with(f).recover())
	}
	world = nil // it is large
	var steadies []steady
	for _, f := range policies(big()) {
		if f == base.fleet {
			steadies = append(steadies, base)
			continue
		}
		_, r := simulate(f, seed)
		steadies = append(steadies, r)
	}
	return append([]namedTable{
		{"policies", policyTable(steadies)},
		{"gaps", gapTable(steadies)},
		{"refills", refillTable(runAll(refills(big()), seed))},
		{"herds", herdTable(fleet.variant, herd)},
		{"outages", outageTable(outages(big()), seed)},
		{"stores", storesTable(stores(big()), seed)},
	}, smallTables(seed)...)
}

// smallTables runs the fleets that a test can afford.
func smallTables(seed uint64) []namedTable {
	world, base := simulate(small(), seed)
	r := world.with(small().but(on(mySQL), by("for_update"))).recover()
	return []namedTable{
		{"small", policyTable([]steady{base})},
		{"small herd", herdTable(fleet.variant, []recovery{r})},
		{"small stores", storesTable(stores(small())[:2], seed)},
	}
}

func runAll(fleets []fleet, seed uint64) (all []steady) {
	for _, f := range fleets {
		_, r := simulate(f, seed)
		all = append(all, r)
	}
	return all
}

func outageTable(fleets []fleet, seed uint64) table {
	var all []recovery
	for _, f := range fleets {
		world, _ := simulate(f, seed)
		all = append(all, world.recover())
	}
	return herdTable(func(f fleet) string {
		return fmt.Sprintf("%s seqgates, %s, `%s`, an outage of %s", whole(float64(f.gates)), f.costs.name, f.strategy, short(f.outage))
	}, all)
}

func storesTable(fleets []fleet, seed uint64) table {
	var all []steady
	var after []recovery
	for _, f := range fleets {
		world, r := simulate(f, seed)
		all = append(all, r)
		after = append(after, world.recover())
	}
	return storeTable(all, after)
}

// splice puts a table into a document, between the comments that name it.
func splice(doc string, t namedTable) (string, error) {
	begin, end := fmt.Sprintf("<!-- table: %s -->\n", t.name), "<!-- end -->"
	before, rest, ok := strings.Cut(doc, begin)
	if !ok {
		return "", fmt.Errorf("has no place for the table %q", t.name)
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("the place for the table %q has no end", t.name)
	}
	return before + begin + "\n" + t.table.String() + "\n" + end + after, nil
}
