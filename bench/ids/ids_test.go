package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A short run measures every generator.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-rounds", "1", "-slice", "1ms", "-goroutines", "1,3"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, c := range contenders() {
		row := fmt.Sprintf("\n| %s | %d | ", c.name, c.block)
		if !strings.Contains(out.String(), row) {
			t.Errorf("no row%sin\n%s", row, out.String())
		}
	}
	if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
		t.Errorf("ids/s of nothing in\n%s", out.String())
	}
}

// seqgate's generators allocate nothing for an id.
func TestAllocations(t *testing.T) {
	for _, c := range contenders() {
		if !strings.HasPrefix(c.name, "seqgate") || c.capped { // one that waits allocates
			continue
		}
		t.Run(fmt.Sprint(c.name, " ", c.block), func(t *testing.T) {
			calls, stop, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}()
			n := testing.AllocsPerRun(1000, func() {
				if err := calls(1); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations, want none", n)
			}
		})
	}
}

func TestRatio(t *testing.T) {
	if got := ratio([]float64{10, 90, 40}, []float64{5, 9, 10}); got != 4 { // of 2, 10 and 4
		t.Errorf("got %v, want 4", got)
	}
}

func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{1234.5: "1234", 99.97: "100", 12.34: "12.3", 9.996: "10.0", 0.255: "0.26", 4: "4.00"} {
		if got := number(f); got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}

func TestParseFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-goroutines 1,0": `"0" is no positive number`,
		"-rounds 0":       "must be positive",
		"more":            "unexpected argument",
	} {
		if _, err := parseFlags(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", args, err, want)
		}
	}
}
