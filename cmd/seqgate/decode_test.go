package main

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want []string // in the output or the error
	}{
		{"by all layouts", []string{"1541815603606036480"}, 0, []string{
			"LAYOUT              TIME                      ZONE  WORKER",
			"twitter             2022-06-28T16:07:40.105Z  11    26",
			"leaf                2022-06-28T16:07:40.105Z  -     378",
			"uid_generator_2016  2017-10-21T00:38:59Z      -     3870909  0",
		}},
		{"by one layout", []string{"--layout", "leaf", "1541815603606036480"}, 0, []string{"\nleaf    2022-06-28T16:07:40.105Z  -     378     0\n"}},
		{"flags after the id", []string{"1541815603606036480", "--layout=twitter", "--json"}, 0, []string{
			"\"id\": \"1541815603606036480\"", `"layout": "twitter"`, `"time": "2022-06-28T16:07:40.105Z"`, `"zone": 11`, `"sequence": 0`}},
		{"hexadecimal", []string{"0x1565A11F6217A000", "--layout", "leaf"}, 0, []string{"leaf    2022-06-28T16:07:40.105Z  -     378"}},
		{"a time to come", []string{"9223372036854775807", "--layout", "twitter"}, 0, []string{"2080-07-10T17:30:30.208Z  31    31      4095"}},
		{"not of the layout", []string{"9223372036854775807", "--layout", "js53"}, 1, []string{`not an id of the layout "js53"`}},
		{"of a sequence", []string{"12"}, 1, []string{"no known layout gives 12 a time"}},
		{"no such layout", []string{"12", "--layout", "nope"}, 2, []string{`no layout "nope": there are twitter, leaf`}},
		{"no id", nil, 2, []string{"give one ID"}},
		{"two ids", []string{"1", "2"}, 2, []string{"give one ID"}},
		{"zero", []string{"0"}, 2, []string{`"0" is not an id`}},
		{"negative without a separator", []string{"-5"}, 2, []string{"-5 is negative: write a whole number from 1"}},
		{"negative", []string{"--", "-5"}, 2, []string{`"-5" is not an id`}},
		{"too large", []string{"9223372036854775808"}, 2, []string{"is not an id"}},
		{"help", []string{"-h"}, 0, []string{"Usage:\n  seqgate decode ID [--config FILE | --vschema FILE | --layout NAME] [--json]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), append([]string{"decode"}, tt.args...), &out, io.Discard)
			got := out.String()
			if exitCode(err) != 0 {
				got = err.Error()
			}
			if exitCode(err) != tt.code {
				t.Errorf("exit code %d (%v), want %d", exitCode(err), err, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want it to contain %q", got, want)
				}
			}
		})
	}
}

// By the layouts of a vschema, which a configuration may name.
func TestDecodeByVSchema(t *testing.T) {
	path := writeFile(t, "vschema.json", `{"keyspaces": {"main": {"generators": {
		"flake": {"type": "snowflake", "params": {"layout": "twitter"}},
		"own": {"type": "snowflake", "params": {"epoch": "2020-01-01", "bits": {"time": 41, "sequence": 12, "worker": 10}}},
		"u": {"type": "uuid"}}}}}`)
	config := writeFile(t, "c.yaml", "keyspaces: {main: {shards: {\"-\": \"u:p@tcp(127.0.0.1:1)/main\"}}}\nvschema: "+path+"\n")
	for _, args := range [][]string{{"--vschema", path}, {"--config", config}} {
		var out strings.Builder
		if err := run(t.Context(), append([]string{"decode", "838868992000000000"}, args...), &out, io.Discard); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		for _, want := range []string{"SEQUENCE  GENERATOR\n", "main.flake\n", "own ", "main.own\n", "leaf ", " -\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: got\n%s\nwant it to contain %q", args, out.String(), want)
			}
		}
		if n := strings.Count(out.String(), "twitter"); n != 1 {
			t.Errorf("%v: layout twitter is there %d times", args, n)
		}
		out.Reset()
		if err := run(t.Context(), append([]string{"decode", "838868992000000000", "--json"}, args...), &out, io.Discard); err != nil || !strings.Contains(out.String(), `"generator": "main.own"`) {
			t.Errorf("%v: %v, %s", args, err, out.String())
		}
	}
	for _, args := range [][]string{{"--vschema", path, "--config", config}, {"--vschema", path, "--layout", "leaf"}, {"--vschema", path + "x"}} {
		if err := run(t.Context(), append([]string{"decode", "838868992000000000"}, args...), io.Discard, io.Discard); exitCode(err) != 2 {
			t.Errorf("%v: %v, want exit code 2", args, err)
		}
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "010": 10, "0x10": 16, "0XfF": 255, "9223372036854775807": math.MaxInt64, "0x7fffffffffffffff": math.MaxInt64,
	} {
		if got, err := parseID(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0x0", "0x", "-1", "0x8000000000000000", "1e3", "1_000", "0b1", "0o17", "+5", "0x+5", "12 "} {
		if got, err := parseID(text); exitCode(err) != 2 {
			t.Errorf("%q: got %d, %v, want a wrong call", text, got, err)
		}
	}
}

// Whatever is given as an id: an answer or an error, and every layout named in an answer takes the id alone too.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"1541815603606036480", "0x1565A11F6217A000", "-1", "12", ""} {
		f.Add(text)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseID(text)
		if err != nil {
			return
		}
		list, err := explain(id, "", nil, now)
		if err != nil {
			return
		}
		for _, e := range list {
			alone, err := explain(id, e.Layout, nil, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]explained{e}, alone); diff != "" {
				t.Errorf("%s by %s alone (-want +got):\n%s", text, e.Layout, diff)
			}
		}
	})
}
