package config

import (
	"strings"
)

// Admin is the status page and the metrics.
type Admin struct {
	Listen   string           // "host:port" or "unix:/path"; empty: off
	Password string           // of all but health; "" for none
	TLS      CertificateFiles // Cert and Key; plain HTTP without
}

const noAdminPassword = "leave the key out to ask for no password"

func (r *reader) adminPassword(v value) string {
	password := r.text(v)
	if v.isText() && password == "" {
		r.fail(v, "the password is empty: %s", noAdminPassword)
	}
	return password
}

func (r *reader) adminPasswordFile(v value) string { return r.secretFromFile(v, noAdminPassword) }

// checkAdmin wants one password at most, and a certificate that can be used.
func (r *reader) checkAdmin() {
	r.checkPair("admin.", r.cfg.Admin.TLS, "plain HTTP")
	if v, ok := r.set["admin.cert"]; ok && strings.HasPrefix(r.cfg.Admin.Listen, "unix:") {
		r.fail(v, "nobody can read on the way to a Unix socket: leave cert and key out")
	}
	var given []string
	for _, key := range []string{"password", "password_env", "password_file"} {
		if v, ok := r.set["admin."+key]; ok {
			given = append(given, key)
			if len(given) > 1 {
				r.fail(v, "more than one password: leave one of %s", strings.Join(given, ", "))
			}
		}
	}
}
