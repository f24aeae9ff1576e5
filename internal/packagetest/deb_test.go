package packagetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// buildDeb builds a package of a version, without compression, and gives its path.
func buildDeb(t *testing.T, dir, version string) string {
	t.Helper()
	program(t, "dpkg-deb")
	cmd := exec.Command(filepath.Join(root, "scripts/deb"), dir)
	cmd.Env = append(os.Environ(), "VERSION="+version, "DPKG_DEB_COMPRESSOR_TYPE=none")
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scripts/deb: %v\n%s", err, &log)
	}
	return strings.TrimSpace(string(out))
}

// A package installs, starts, is upgraded, and goes without a trace.
func TestDebIsInstalled(t *testing.T) {
	dir := t.TempDir()
	old, newer := buildDeb(t, dir, "v0.1.0"), buildDeb(t, dir, "v0.2.0")
	if got, want := filepath.Base(old), "seqgate_0.1.0_"; !strings.HasPrefix(got, want) {
		t.Errorf("the package is %s, want %s...", got, want)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		out, err := exec.Command(filepath.Join(root, "scripts/deb-try"), old, newer, s.DSN(s.NewDatabase(t))).CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 77 {
			t.Skipf("%s", out)
		}
		if err != nil {
			t.Fatalf("scripts/deb-try: %v\n%s", err, out)
		}
		for _, want := range []string{"seqgate v0.1.0\n", "seqgate v0.2.0\n", "purged\n"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("deb-try does not say %q:\n%s", want, out)
			}
		}
	})
}

// Debian's versions are ordered as ours: a candidate is older than its release, what was built behind a tag newer than it.
func TestDebVersions(t *testing.T) {
	program(t, "dpkg")
	before := ""
	for _, v := range []struct{ version, want string }{
		{"abc1234+dirty", "0~0.abc1234+dirty"},
		{"v1.2.3-alpha.1", "1.2.3~alpha.1"},
		{"v1.2.3-rc1", "1.2.3~rc1"},
		{"v1.2.3-rc1-7-g0abc123", "1.2.3~rc1+7.g0abc123"},
		{"v1.2.3-rc2", "1.2.3~rc2"},
		{"v1.2.3", "1.2.3"},
		{"v1.2.3-4-g0abc123", "1.2.3+4.g0abc123"},
		{"v1.2.3-10-g0abc123+dirty", "1.2.3+10.g0abc123+dirty"},
		{"v1.2.4", "1.2.4"},
	} {
		out, err := exec.Command(filepath.Join(root, "scripts/deb-version"), v.version).Output()
		got := strings.TrimSpace(string(out))
		if err != nil || got != v.want {
			t.Errorf("%s: got %s (%v), want %s", v.version, got, err, v.want)
		}
		if before != "" && exec.Command("dpkg", "--compare-versions", before, "lt", got).Run() != nil {
			t.Errorf("%s is not newer than %s", got, before)
		}
		before = got
	}
}

// Of an architecture that nobody has tried there is no package.
func TestDebArchitectures(t *testing.T) {
	for _, arch := range []string{"armhf", "i386", "ppc64el"} {
		cmd := exec.Command(filepath.Join(root, "scripts/deb"), t.TempDir())
		cmd.Env = append(os.Environ(), "ARCH="+arch)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "set ARCH to amd64 or arm64") {
			t.Errorf("%s: %v\n%s", arch, err, out)
		}
	}
}

// installed is what a package puts where, from which file, and with which rights.
type installed struct{ Source, Target, Mode string }

// scripts/deb and goreleaser make the same package.
func TestDebAgreesWithGoreleaser(t *testing.T) {
	var byScript, byGoreleaser []installed
	names := strings.NewReplacer("$root", "", "$doc", "/usr/share/doc/seqgate", "$stage/assets/", "bin/assets/", `"`, "", "$file", "docs/*.md")
	for line := range strings.Lines(readFile(t, "scripts/deb")) {
		f := strings.Fields(names.Replace(strings.TrimPrefix(strings.TrimSpace(line), "for file in docs/*.md; do ")))
		if len(f) < 4 || f[0] != "put" || strings.HasPrefix(f[3], "/DEBIAN/") || f[3] == "/usr/bin/seqgate" {
			continue
		}
		byScript = append(byScript, installed{f[2], strings.TrimSuffix(strings.TrimSuffix(f[3], ";"), "*.md"), "0" + f[1]})
	}
	for _, c := range readGoreleaser(t).NFPMs[0].Contents {
		byGoreleaser = append(byGoreleaser, installed{c.Src, c.Dst, c.FileInfo.Mode})
	}
	if diff := cmp.Diff(byScript, byGoreleaser); diff != "" || len(byScript) < 8 {
		t.Errorf("the files (-scripts/deb +.goreleaser.yaml):\n%s", diff)
	}
}
