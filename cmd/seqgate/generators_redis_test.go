package main

import (
	"io"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Without the environment variable seqgate does not start, and a vschema that names it is not taken over.
func TestServeWithoutRedisURL(t *testing.T) {
	const text = `{"keyspaces": {"main": {"tables": {"g": {"type": "sequence"}}, "generators": {
		"a": {"type": "redis", "params": {"key": "k", "guard": "g", "url_env": "TEST_REDIS_NOT_SET"}}}}}}`
	const want = "vschema.json: keyspaces.main.generators.a: environment variable TEST_REDIS_NOT_SET of Redis is not set"
	p := newPlace(t, servertest.First(t), text)
	if err := run(t.Context(), append([]string{"serve", "--listen", "127.0.0.1:0"}, p.from...), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("serve: %v, want %q", err, want)
	}
	v, _, err := config.ReadVSchema(writeFile(t, "vschema.json", text))
	if err != nil {
		t.Fatal(err)
	}
	f := &app.VSchemaFile{Path: "vschema.json"}
	if err := f.Set(v); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("reload: %v, want %q", err, want)
	}
}
