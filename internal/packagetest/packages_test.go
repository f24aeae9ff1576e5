package packagetest

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// buildPackages builds kinds of packages of a version into dir, and returns their paths by kind.
func buildPackages(t *testing.T, dir, version string, kinds ...string) map[string]string {
	t.Helper()
	cmd := exec.Command(filepath.Join(root, "scripts/package"), append([]string{dir}, kinds...)...)
	cmd.Env = append(os.Environ(), "VERSION="+version)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scripts/package: %v\n%s", err, &log)
	}
	paths := strings.Fields(string(out))
	if len(paths) != len(kinds) {
		t.Fatalf("scripts/package built %q, want %q", paths, kinds)
	}
	byKind := make(map[string]string)
	for i, kind := range kinds {
		byKind[kind] = paths[i]
	}
	return byKind
}

// kinds are the packages that this machine can install.
func kinds(t *testing.T) []string {
	t.Helper()
	if program(t, "dpkg-deb"); !hasRPM() {
		t.Log("rpm is not installed: only debs are tried")
		return []string{"deb"}
	}
	return []string{"deb", "rpm"}
}

func hasRPM() bool {
	_, err := exec.LookPath("rpm")
	return err == nil
}

// A package installs, starts, is upgraded, and goes without a trace.
func TestPackagesAreInstalled(t *testing.T) {
	dir, kinds := t.TempDir(), kinds(t)
	old, newer := buildPackages(t, dir, "v0.1.0", kinds...), buildPackages(t, dir, "v0.2.0", kinds...)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, kind := range kinds {
			t.Run(kind, func(t *testing.T) { tryPackage(t, old[kind], newer[kind], s.DSN(s.NewDatabase(t))) })
		}
	})
}

func tryPackage(t *testing.T, old, newer, dsn string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(root, "scripts/package-try"), old, newer, dsn).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Fatalf("scripts/package-try: %v\n%s", err, out)
	}
	for _, want := range []string{"seqgate v0.1.0\n", "seqgate v0.2.0\n", "package-try: installed, started, stopped, upgraded"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("package-try does not say %q:\n%s", want, out)
		}
	}
}

// The rpm has the deb's files, with the same rights, but for what each kind keeps at a place of its own; and the configuration is
// kept, and is the group's, without a script.
func TestPackagesAgree(t *testing.T) {
	program(t, "dpkg-deb")
	program(t, "rpm")
	packages := buildPackages(t, t.TempDir(), "v1.2.3-rc1", "deb", "rpm")
	if got, want := filepath.Base(packages["deb"]), "seqgate_1.2.3~rc1_"+runtime.GOARCH+".deb"; got != want {
		t.Errorf("the deb is %s, want %s", got, want)
	}
	if got, want := filepath.Base(packages["rpm"]), "seqgate-1.2.3~rc1-1."; !strings.HasPrefix(got, want) {
		t.Errorf("the rpm is %s, want %s...", got, want)
	}
	byDeb := installed(t, `(?m)^(\S+) (\S+)/(\S+) +\d+ \S+ \S+ \.(/\S+[^/\s])$`, "dpkg-deb", "--contents", packages["deb"])
	byRPM := installed(t, `(?m)^(\S+) (\S+) (\S+) (\S+)$`, "rpm", "--query", "--package",
		"--queryformat", `[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILENAMES}\n]`, packages["rpm"])
	onlyRPM := map[string]string{
		"/etc/seqgate":                           "drwxr-x--- root seqgate",
		"/etc/seqgate/seqgate.yaml":              "-rw-r----- root seqgate",
		"/usr/share/licenses/seqgate/LICENSE":    "-rw-r--r-- root root",
		"/usr/share/zsh/site-functions/_seqgate": "-rw-r--r-- root root",
	}
	onlyDeb := map[string]string{
		"/etc/seqgate/seqgate.yaml":                  "-rw-r----- root root",
		"/usr/share/doc/seqgate/changelog.gz":        "-rw-r--r-- root root",
		"/usr/share/doc/seqgate/copyright":           "-rw-r--r-- root root",
		"/usr/share/lintian/overrides/seqgate":       "-rw-r--r-- root root",
		"/usr/share/zsh/vendor-completions/_seqgate": "-rw-r--r-- root root",
	}
	remove(t, byRPM, onlyRPM)
	remove(t, byDeb, onlyDeb)
	if diff := cmp.Diff(byDeb, byRPM); diff != "" || byDeb["/usr/bin/seqgate"] == "" {
		t.Errorf("the files (-deb +rpm):\n%s", diff)
	}
	config := output(t, "rpm", "--query", "--package", "--queryformat", `[%{FILEFLAGS:fflags} %{FILENAMES}\n]`, packages["rpm"])
	if want := "\ncn /etc/seqgate/seqgate.yaml\n"; !strings.Contains("\n"+config, want) {
		t.Errorf("the flags of files are %q, want %q among them", config, want)
	}
	scripts := output(t, "rpm", "--query", "--package", "--scripts", packages["rpm"])
	for _, name := range []string{"pre", "post", "preun", "postun"} {
		if text := readFile(t, "deploy/packages/rpm/"+name); !strings.Contains(scripts, text) {
			t.Errorf("the rpm does not have the script %s", name)
		}
	}
}

// installed are the rights and owners of a package's files by their paths, without the folders that all packages have.
func installed(t *testing.T, line, name string, args ...string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, m := range regexp.MustCompile(line).FindAllStringSubmatch(output(t, name, args...), -1) {
		files[m[4]] = m[1] + " " + m[2] + " " + m[3]
	}
	return files
}

// remove takes files out that have to be there.
func remove(t *testing.T, all, files map[string]string) {
	t.Helper()
	for path, want := range files {
		if all[path] != want {
			t.Errorf("%s is %q, want %q", path, all[path], want)
		}
		delete(all, path)
	}
}

// output runs a program that has to succeed.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// The SBOM lists the modules that are in the program, with their versions, and Go's own library; the checksums hold.
func TestSBOM(t *testing.T) {
	dir := t.TempDir()
	file := buildPackages(t, dir, "v1.2.3-rc1", "sbom")["sbom"]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type component struct{ Name, Version string }
	var sbom struct {
		BOMFormat  string
		Metadata   struct{ Component component }
		Components []component
	}
	if err := json.Unmarshal(data, &sbom); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	path, err := seqgate()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": info.GoVersion}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
	}
	got := make(map[string]string)
	for _, c := range sbom.Components {
		got[c.Name] = c.Version
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-program +SBOM):\n%s", diff)
	}
	if main := (component{info.Main.Path, "v1.2.3-rc1"}); sbom.BOMFormat != "CycloneDX" || sbom.Metadata.Component != main {
		t.Errorf("it is a %s of %v, want CycloneDX of %v", sbom.BOMFormat, sbom.Metadata.Component, main)
	}
	sums := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = dir
	if out, err := sums.CombinedOutput(); err != nil || string(out) != filepath.Base(file)+": OK\n" {
		t.Errorf("sha256sum --check: %v\n%s", err, out)
	}
}

// The packages' versions are ordered as ours: a candidate is older than its release, what was built behind a tag newer than it.
func TestPackageVersions(t *testing.T) {
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
		out, err := exec.Command(filepath.Join(root, "scripts/package-version"), v.version).Output()
		got := strings.TrimSpace(string(out))
		if err != nil || got != v.want {
			t.Errorf("%s: got %s (%v), want %s", v.version, got, err, v.want)
		}
		if before != "" && exec.Command("dpkg", "--compare-versions", before, "lt", got).Run() != nil {
			t.Errorf("%s is not newer than %s for dpkg", got, before)
		}
		if before != "" && hasRPM() && output(t, "rpm", "--eval", `%{lua: print(rpm.vercmp("`+before+`", "`+got+`"))}`) != "-1\n" {
			t.Errorf("%s is not newer than %s for rpm", got, before)
		}
		before = got
	}
}

// Of an architecture that nobody has tried there is no package.
func TestPackageArchitectures(t *testing.T) {
	for _, arch := range []string{"armhf", "i386", "ppc64el"} {
		cmd := exec.Command(filepath.Join(root, "scripts/package"), t.TempDir())
		cmd.Env = append(os.Environ(), "ARCH="+arch)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "set ARCH to amd64 or arm64") {
			t.Errorf("%s: %v\n%s", arch, err, out)
		}
	}
}
