package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

// URLs that lead to one Redis count as one, whether they are written out or in the environment.
func TestOneCounterTwice(t *testing.T) {
	t.Setenv("TEST_ENV_A", "redis://app:s3cret@LOCALHOST:6379/1")
	const unset = "TEST_ENV_NONE"
	for _, tt := range []struct {
		name, a, b string
		refused    bool
	}{
		{"the same", `"url": "redis://h:1/0"`, `"url": "redis://h:1/0"`, true},
		{"another user, and what is the default", `"url": "redis://u:p@h:6379/0"`, `"url": "redis://h"`, true},
		{"url and environment", `"url": "redis://127.0.0.1/1"`, `"url_env": "TEST_ENV_A"`, true},
		{"IPv6", `"url": "redis://[fd00::1]:6379"`, `"url": "redis://[fd00:0:0::1]:6379"`, true},
		{"sockets", `"url": "unix:///run/redis.sock?db=2"`, `"url": "unix://u:p@/run/redis.sock?db=2"`, true},
		{"not set, the same", `"url_env": "` + unset + `"`, `"url_env": "` + unset + `"`, true},
		{"not set, another", `"url_env": "` + unset + `"`, `"url_env": "TEST_ENV_A"`, false},
		{"another number", `"url": "redis://h/1"`, `"url": "redis://h/2"`, false},
		{"another port", `"url": "redis://h:1"`, `"url": "redis://h:2"`, false},
		{"another host", `"url": "redis://h"`, `"url": "redis://i"`, false},
	} {
		text := `{"keyspaces": {"main": {"tables": {"g": {"type": "sequence"}, "h": {"type": "sequence"}}, "generators": {
			"a": {"type": "redis", "params": {"key": "k", "guard": "g", ` + tt.a + `}}}}, "second": {"generators": {
			"b": {"type": "redis", "params": {"key": "k", "guard": "main.h", ` + tt.b + `}}}}}}`
		_, _, err := ReadVSchema(writeFile(t, "vschema.json", text))
		const want = `vschema.json:3:45: keyspaces.second.generators.b.params.key: generator "main.a" counts by this key of the same Redis`
		if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, refused is to be %v", tt.name, err, tt.refused)
		}
	}
}

// A URL of Redis that cannot be read is told when the vschema is loaded, without any of it: it has a password.
func TestRedisURLIsNotTold(t *testing.T) {
	for _, url := range []string{"redis://app:s3cret@127.0.0.1:63a79/0", "redis://app:s3cret/x@127.0.0.1/0", "redis://app:s3cret%zz@h", "redis://127.0.0.1/s3cret",
		"redis://app:12/s3cret@h/0", "s3cret"} {
		t.Setenv("TEST_REDIS_URL", url)
		for _, param := range []string{`"url_env": "TEST_REDIS_URL"`, `"url": "` + url + `"`} {
			text := `{"keyspaces": {"main": {"tables": {"g": {"type": "sequence"}}, "generators": {
				"a": {"type": "redis", "params": {"key": "k", "guard": "g", ` + param + `}}}}}}`
			_, _, err := ReadVSchema(writeFile(t, "vschema.json", text))
			var errs vschema.Errors
			if !errors.As(err, &errs) || len(errs) != 1 || errs[0].Line != 2 || !strings.Contains(err.Error(), "no URL of a Redis: write redis://") {
				t.Errorf("%s: %v, want that it is no URL", param, err)
			} else if strings.Contains(err.Error(), "s3c") {
				t.Errorf("%s: %v", param, err)
			}
		}
	}
}
