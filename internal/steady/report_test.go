package steady

import (
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	samples := made(1)
	for i := range samples {
		samples[i].Goroutines += i
	}
	var b strings.Builder
	if _, err := (Report{Title: "An hour", Every: 5 * time.Minute, Samples: samples, IDs: 7}).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"An hour. 7 ids were given, each once.\n", "| goroutines | ", "**grows** |\n", "| steady |\n", "| 5m0s | 600 | ", "| 1h0m0s | 600 | "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "| 600 |"); n != 12 {
		t.Errorf("%d lines for 12 times 5 minutes", n)
	}
}

func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{0.0123: "0.012", -5: "-5.000", 999: "999", 1000: "1,000", -123456: "-123,456", -1234567: "-1,234,567"} {
		if got := number(f); got != want {
			t.Errorf("number(%v) = %q, want %q", f, got, want)
		}
	}
}
