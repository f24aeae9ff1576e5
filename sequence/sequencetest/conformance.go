package sequencetest

import "testing"

// TestStore runs the conformance suite against the store that open makes, on a real server. It calls open once for each
// of its tests. The suite leaves the server as it was but for the database.
func TestStore(t *testing.T, open func(t *testing.T) Harness) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"Blocks", testBlocks},
		{"Exact", testExact},
		{"Rows", testRows},
		{"Names", testNames},
		{"Sizes", testSizes},
		{"UnhappyRows", testUnhappyRows},
		{"NoDatabase", testNoDatabase},
		{"EditsWhileRunning", testEdits},
		{"MadeAnew", testMadeAnew},
		{"End", testEnd},
		{"ColumnEnds", testColumnEnds},
		{"Release", testRelease},
		{"Raise", testRaise},
		{"RaiseRefusals", testRaiseRefusals},
		{"Contention", testContention},
		{"NoRowLocks", testNoRowLocks},
		{"Processes", testProcesses},
		{"LostStatement", testLostStatement},
		{"LostUnderLoad", testLostUnderLoad},
		{"Killed", testKilled},
		{"FrozenHolder", testFrozenHolder},
		{"LockedTable", testLockedTable},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}
