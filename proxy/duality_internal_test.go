package proxy

import "testing"

// Which servers are asked for JSON duality views.
func TestHasDuality(t *testing.T) {
	for version, want := range map[string]bool{
		"8.0.36": false, "8.4.5-log": false, "9.3.0": false, "9.4.0": true, "9.7.4-2": true, "10.0.1": true, "a proxy": true, "": true,
	} {
		if got := hasDuality(version); got != want {
			t.Errorf("%q: got %v, want %v", version, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { hasDuality("8.4.5") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
