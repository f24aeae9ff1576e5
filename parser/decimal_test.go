package parser

import "testing"

// To a FLOAT or DOUBLE a fraction may be a zero or not.
func TestApproximate(t *testing.T) {
	m := Mode{Approximate: true}
	for text, want := range map[string]SlotState{
		"0.0": Open, "0e5": Open, "-0.00": Open, "0.5": Unknown, "-.5": Unknown, "5e-1": Unknown, "0.05e1": Unknown, "1": Explicit, "1.5": Explicit, "0.5e1": Explicit, "0.1e1": Explicit, "-1.0": Explicit,
	} {
		if got := StringSlot([]byte(text), m, false).State; got != want {
			t.Errorf("text %s: state %d, want %d", text, got, want)
		}
		if got := ValueSlot([]byte(text), m, false).State; got != want {
			t.Errorf("%s: state %d, want %d", text, got, want)
		}
	}
	if got := FloatSlot(0.25, m).State; got != Unknown {
		t.Errorf("0.25: state %d, want Unknown", got)
	}
}
