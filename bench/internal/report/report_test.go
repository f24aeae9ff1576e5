package report_test

import (
	"testing"

	"github.com/seqgate/seqgate/bench/internal/report"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := report.Median(tt.values); got != tt.want {
			t.Errorf("median of %v: got %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	got := report.Table([]string{"key", "rows/s"}, [][]string{{"a", "1"}, {"b", "2"}})
	if want := "| key | rows/s |\n|---|---:|\n| a | 1 |\n| b | 2 |\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
