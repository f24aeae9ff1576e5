package config

import (
	"strings"
	"testing"
)

func TestTracingRatio(t *testing.T) {
	for _, ratio := range []string{"-0.1", "1.1", "NaN", "often"} {
		path := writeFile(t, "seqgate.yaml", "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:3306)/main\"}}}\ntracing: {ratio: "+ratio+"}\n")
		if _, err := loader(env(nil)).Load(path); err == nil || !strings.Contains(err.Error(), "is no share: write a number from 0 to 1") {
			t.Errorf("ratio %s: got %v", ratio, err)
		}
	}
}
