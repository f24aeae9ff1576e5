// Package report has what the reports of the benchmarks have in common.
package report

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Machine says in Markdown what the numbers were measured on. It needs Linux: what /proc does not tell stays empty.
func Machine() string {
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	meminfo, _ := os.ReadFile("/proc/meminfo")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	load, _ := os.ReadFile("/proc/loadavg")
	_, model, _ := strings.Cut(Line(string(cpuinfo), "model name"), ": ")
	var kib int64
	_, _ = fmt.Sscanf(Line(string(meminfo), "MemTotal:"), "MemTotal: %d kB", &kib)
	return fmt.Sprintf("- Machine: %s, %d cores, %d GiB, Linux %s, load before the run %.4s\n- %s, %s/%s\n",
		model, runtime.NumCPU(), (kib+1<<19)>>20, strings.TrimSpace(string(kernel)), load, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Line returns the first line of text that starts with prefix, "" where there is none.
func Line(text, prefix string) string {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, prefix) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

// Median returns the median of values, 0 of none, and leaves them as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

// Table returns a Markdown table, its first column to the left and all others, numbers, to the right.
func Table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString("|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}
