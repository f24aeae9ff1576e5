package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// binary writes a program that stands for a test binary: it counts its runs in a file and does what the script says
// then, with the number of the run in $n.
func binary(t *testing.T, script string) (path string, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	path, count := filepath.Join(dir, "x.test"), filepath.Join(dir, "runs")
	text := "#!/bin/sh\necho >> " + count + "\nn=$(wc -l < " + count + ")\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() int {
		b, err := os.ReadFile(count)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(b, []byte("\n"))
	}
}

func TestRun(t *testing.T) {
	const failed = `echo 'ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346 "(x) != (0)" (tid=1)'`
	for name, c := range map[string]struct {
		script     string
		code, runs int
	}{
		"passes":                       {"echo PASS", 0, 1},
		"a test fails":                 {"echo '--- FAIL: TestX'; exit 1", 1, 1},
		"a race":                       {"echo 'WARNING: DATA RACE' >&2; exit 66", 66, 1},
		"the detector fails once":      {"[ $n = 2 ] || { " + failed + " >&2; exit 66; }", 0, 2},
		"on its output":                {"[ $n = 2 ] || { echo PASS so far; " + failed + "; exit 66; }", 0, 2},
		"then a test does":             {"[ $n = 2 ] || { " + failed + " >&2; exit 66; }; echo FAIL; exit 1", 1, 2},
		"the detector fails each time": {failed + " >&2; exit 66", 66, 2},
		"behind a failed test":         {"[ $n = 2 ] || { echo '    --- FAIL: TestX/y'; " + failed + "; exit 66; }", 66, 1},
		"behind a race":                {"[ $n = 2 ] || { echo 'WARNING: DATA RACE' >&2; " + failed + "; exit 66; }", 66, 1},
		"behind a panic":               {"[ $n = 2 ] || { printf 'panic'; sleep 0.1; echo ': no'; " + failed + "; exit 66; }", 66, 1},
		"a test's log mentions it":     {`echo "    a_test.go:1: $(` + failed + `)"; exit 1`, 1, 1},
		"it says so and all passes":    {failed, 0, 1},
		"a signal":                     {"kill -9 $$", 1, 1},
		"in pieces, behind a line":     {"[ $n = 2 ] || { printf 'x\\nThreadSan'; sleep 0.1; printf 'itizer: CHECK failed: y\\n'; exit 66; }", 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			path, runs := binary(t, c.script)
			log := path + ".log"
			var out bytes.Buffer
			if code := run([]string{log, path}, &out); code != c.code || runs() != c.runs {
				t.Errorf("exit code %d after %d runs, want %d after %d\n%s", code, runs(), c.code, c.runs, &out)
			}
			text, err := os.ReadFile(log)
			if told := strings.Contains(string(text), "x.test: the race detector"); told != (c.runs == 2) {
				t.Errorf("after %d runs the log says %q, %v", c.runs, text, err)
			}
		})
	}
}

// What the binary gets and says is passed on as it is.
func TestPassesOn(t *testing.T) {
	path, _ := binary(t, `echo "$1 $2"; printf error >&2`)
	var out bytes.Buffer
	if code := run([]string{path + ".log", path, "-test.v=true", "a b"}, &out); code != 0 || out.String() != "-test.v=true a b\nerror" {
		t.Errorf("exit code %d, output %q", code, &out)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		text string
	}{{nil, 2, "usage"}, {[]string{"log"}, 2, "usage"}, {[]string{"log", "/nonexistent/x.test"}, 1, "no such file"}} {
		var out bytes.Buffer
		if code := run(c.args, &out); code != c.code || !strings.Contains(out.String(), c.text) {
			t.Errorf("%q: exit code %d, %s", c.args, code, &out)
		}
	}
}
