package sequencetest

import (
	"slices"
	"testing"
)

// TestStore runs the conformance suite against the store that open makes, on a real server. It calls open once for each
// of its tests. The suite leaves the server as it was but for the database.
func TestStore(t *testing.T, open func(t *testing.T) Harness) {
	run(t, open, all)
}

// TestReservations runs those tests of the suite that a store has to pass whose row is another system's: the others are
// about Vitess's table, its columns and its comment.
func TestReservations(t *testing.T, open func(t *testing.T) Harness) {
	run(t, open, slices.DeleteFunc(slices.Clone(all), func(one storeTest) bool { return !one.anyRow }))
}

// storeTest is a test of the suite.
type storeTest struct {
	name   string
	test   func(t *testing.T, h Harness)
	anyRow bool // not of Vitess's table alone
}

func run(t *testing.T, open func(t *testing.T) Harness, tests []storeTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

var all = []storeTest{
	{"Blocks", testBlocks, true},
	{"Exact", testExact, true},
	{"Rows", testRows, false},
	{"Names", testNames, false},
	{"Sizes", testSizes, false},
	{"UnhappyRows", testUnhappyRows, false},
	{"NoDatabase", testNoDatabase, false},
	{"EditsWhileRunning", testEdits, false},
	{"MadeAnew", testMadeAnew, false},
	{"End", testEnd, false},
	{"ColumnEnds", testColumnEnds, false},
	{"Release", testRelease, false},
	{"Raise", testRaise, false},
	{"RaiseRefusals", testRaiseRefusals, false},
	{"Contention", testContention, true},
	{"NoRowLocks", testNoRowLocks, false},
	{"Processes", testProcesses, true},
	{"LostStatement", testLostStatement, true},
	{"LostUnderLoad", testLostUnderLoad, true},
	{"Killed", testKilled, false},
	{"FrozenHolder", testFrozenHolder, true},
	{"LockedTable", testLockedTable, false},
	{"LostHolder", testLostHolder, true},
}
