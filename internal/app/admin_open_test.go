package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/config"
)

func TestAdminIsOpen(t *testing.T) {
	for _, test := range []struct {
		admin config.Admin
		want  bool
	}{
		{config.Admin{}, false}, {config.Admin{Listen: "127.0.0.1:1"}, false}, {config.Admin{Listen: "[::1]:1"}, false}, {config.Admin{Listen: "localhost:1"}, false},
		{config.Admin{Listen: ":1"}, true}, {config.Admin{Listen: "0.0.0.0:1"}, true}, {config.Admin{Listen: "10.0.0.5:1"}, true}, {config.Admin{Listen: "host:1"}, true},
		{config.Admin{Listen: "[::]:1"}, true}, {config.Admin{Listen: ":1", Password: "x"}, false},
	} {
		var log bytes.Buffer
		warnOfOpen(test.admin, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "set admin.password"); got != test.want {
			t.Errorf("%+v: got the warning %q, want one: %v", test.admin, log.String(), test.want)
		}
	}
}
