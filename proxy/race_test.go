//go:build race

package proxy_test

// raceEnabled: the race detector makes pools forget at random, so allocations
// cannot be counted.
const raceEnabled = true
