package config

import (
	"strings"
)

// dsnText returns a DSN as text where it is a mapping that says where it is: dsn_env or dsn_file. So a file with DSNs that
// anybody may read, such as one in a repository, needs no password. Everything else is given back as it is.
func (r *reader) dsnText(v value) (value, bool) {
	if !v.isMapping() {
		return v, true
	}
	before, text, given := len(r.errs), "", 0
	r.fields(v, map[string]func(value){
		"dsn_env":  func(v value) { given, text = given+1, r.passwordFromEnv(v) },
		"dsn_file": func(v value) { given, text = given+1, r.dsnFromFile(v) },
	})
	if given != 1 && len(r.errs) == before {
		r.fail(v, "write one of dsn_env: VARIABLE and dsn_file: PATH, or the DSN itself")
	}
	return v.withText(text), len(r.errs) == before
}

// dsnFromFile takes the file's text without the line end that editors add.
func (r *reader) dsnFromFile(v value) string {
	path := r.filePath(v)
	if path == "" {
		return ""
	}
	data, err := r.readSecret(v, path)
	if err != nil {
		r.fail(v, "%s: %s", path, readError(err))
	}
	return strings.TrimRight(string(data), "\r\n")
}
