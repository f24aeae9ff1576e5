package config

import (
	"strings"
	"testing"
)

func TestAdminPassword(t *testing.T) {
	const rest = "\nkeyspaces: {main: {shards: {\"-\": \"a:b@tcp(h:1)/main\"}}}\n"
	environment := map[string]string{"PW": "from env"}
	for text, want := range map[string]string{
		"admin: {password: one}": "one", "admin: {password_env: PW}": "from env", "admin: {listen: ':1'}": "",
		"admin: {password_file: " + writeFile(t, "pw", "from file\n") + "}": "from file",
	} {
		cfg, err := loader(env(environment)).Load(writeFile(t, "seqgate.yaml", text+rest))
		if err != nil || cfg.Admin.Password != want {
			t.Errorf("%s: got %+v, %v", text, cfg, err)
		}
	}
	for text, want := range map[string]string{
		"admin: {password: ''}":                                       "the password is empty: leave the key out",
		"admin: {password_env: NONE}":                                 "the environment variable NONE is not set",
		"admin: {password: TOPSECRET, password_env: PW}":              "more than one password: leave one of password, password_env",
		"admin: {password_file: " + writeFile(t, "empty", "\n") + "}": "is empty: leave the key out",
	} {
		if _, err := loader(env(environment)).Load(writeFile(t, "seqgate.yaml", text+rest)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "TOPSECRET") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	cfg, err := loader(env(map[string]string{"SEQGATE_ADMIN_PASSWORD": "two"})).Load(writeFile(t, "seqgate.yaml", "admin: {password: one}"+rest))
	if err != nil || cfg.Admin.Password != "two" {
		t.Errorf("the environment does not win: got %+v, %v", cfg, err)
	}
}
