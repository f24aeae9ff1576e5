// Package wiretest holds seqgate to the servers' own protocol: its test runs a list of cases, each directly against a
// server and through seqgate, and compares what comes back packet by packet, sequence numbers included.
//
// A case is a name and the steps of its clients, as data in the files cases_*_test.go; a new one is a line there. The
// client in client_test.go and login_test.go is written for this test alone, so that it can ask for odd capabilities,
// break rules, and see each packet as it came. What must differ between two connections (the names of the two
// databases, ids, ports, salts) is masked, see mask_test.go.
//
// Cases in which seqgate differs today are listed with the reason in differs_test.go. The test fails when one of them
// no longer differs, so that the list says what is so.
package wiretest
