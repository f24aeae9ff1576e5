package vschema_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

// vectorFile is what Vitess's own code gave for a list of inputs, see "source" and "note" in the file.
type vectorFile struct {
	Groups []struct {
		Vindex  string
		Params  map[string]string
		Cost    int
		Vectors []vector
		Multi   []vector
	}
}

type vector struct {
	Type, Input string
	InputHex    string `json:"input_hex"`
	Types       []string
	Inputs      []string // of several columns
	KSID        string
	Dest        string // keyspace_id, DestinationNone() or a DestinationKeyRange(...)
	Shard2      string
	Shard4      string
	Error       string
}

// regions is the file that the region_json of the vectors names.
const regions = `{"US": 1, "DE": 255, "JP": 256}`

func readRegions(path string) ([]byte, error) {
	if path != "region.json" {
		return nil, os.ErrNotExist
	}
	return []byte(regions), nil
}

// TestVectors replays results of Vitess.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "vindex-vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, group := range file.Groups {
		v, err := vschema.NewVindex(group.Vindex, group.Params, readRegions)
		if err != nil {
			t.Fatalf("%s %v: %v", group.Vindex, group.Params, err)
		}
		if got, want := v.Cost(), group.Cost; got != want {
			t.Errorf("%s %v: cost %d, want %d", group.Vindex, group.Params, got, want)
		}
		for _, w := range append(group.Vectors, group.Multi...) {
			count++
			if got, want := result(t, v, w.values(t)), w.result(); got != want {
				t.Errorf("%s %v: %+v\ngives %s, want %s", group.Vindex, group.Params, w, got, want)
			}
		}
	}
	if count < 250 {
		t.Errorf("%d vectors, want more", count)
	}
}

func (w vector) values(t *testing.T) []vschema.Value {
	if w.Types == nil {
		return []vschema.Value{newValue(t, w.Type, w.Input, w.InputHex)}
	}
	values := make([]vschema.Value, len(w.Types))
	for i := range w.Types {
		values[i] = newValue(t, w.Types[i], w.Inputs[i], "")
	}
	return values
}

func newValue(t *testing.T, typ, input, inputHex string) vschema.Value {
	t.Helper()
	switch typ {
	case "NULL_TYPE":
		return vschema.Null()
	case "INT64":
		var n int64
		if _, err := fmt.Sscan(input, &n); err != nil {
			t.Fatal(err)
		}
		return vschema.Int(n)
	case "UINT64":
		var n uint64
		if _, err := fmt.Sscan(input, &n); err != nil {
			t.Fatal(err)
		}
		return vschema.Uint(n)
	}
	if inputHex == "" {
		return vschema.Text([]byte(input))
	}
	text, err := hex.DecodeString(inputHex)
	if err != nil {
		t.Fatal(err)
	}
	return vschema.Text(text)
}

// result is what Vitess gave, in one line.
func (w vector) result() string {
	switch {
	case w.Error != "":
		return "error"
	case strings.HasPrefix(w.Dest, "DestinationKeyRange("):
		return strings.TrimSuffix(strings.TrimPrefix(w.Dest, "DestinationKeyRange("), ")")
	case w.Dest == "DestinationNone()":
		return "no shard"
	case w.Shard2 == "":
		return w.KSID
	}
	return strings.Join([]string{w.KSID, w.Shard2, w.Shard4}, " ")
}

// result maps the values, and writes what it gives as vector.result does.
func result(t *testing.T, v vschema.Vindex, values []vschema.Value) string {
	t.Helper()
	if len(values) < v.Columns() {
		p, ok := v.(vschema.PrefixVindex)
		if !ok {
			return "no shard"
		}
		r, err := p.MapPrefix(values)
		if err != nil {
			return failure(err)
		}
		return r.String()
	}
	id, err := v.Map(nil, values)
	if err != nil {
		return failure(err)
	}
	text := hex.EncodeToString(id)
	if len(values) > 1 {
		return text
	}
	for _, names := range [][]string{{"80-", "-80"}, {"-40", "80-c0", "c0-", "40-80"}} {
		shards, err := vschema.NewShards(names)
		if err != nil {
			t.Fatal(err)
		}
		text += " " + shards.Name(shards.Find(id))
	}
	return text
}

func failure(err error) string {
	if errors.Is(err, vschema.ErrNoShard) {
		return "no shard"
	}
	return "error"
}
