package packagetest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goreleaser is the part of its configuration that .goreleaser.yaml uses; any other key is an error.
// https://goreleaser.com/customization/
type goreleaser struct {
	Version     int
	ProjectName string `yaml:"project_name"`
	Before      struct{ Hooks []string }
	Builds      []struct {
		ID, Main, Binary, Ldflags string
		Env, Flags, Tags          []string
		Goos, Goarch              []string
		ModTimestamp              string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		IDs             []string
		Formats, Files  []string
		NameTemplate    string `yaml:"name_template"`
		WrapInDirectory bool   `yaml:"wrap_in_directory"`
	}
	SBOMs []struct {
		Artifacts, Cmd  string
		Args, Documents []string
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
		ExtraFiles   []struct{ Glob string } `yaml:"extra_files"`
	}
	Release struct {
		ExtraFiles []struct{ Glob string } `yaml:"extra_files"`
	}
	Snapshot struct {
		VersionTemplate string `yaml:"version_template"`
	}
	Changelog struct{ Disable bool }
}

func readGoreleaser(t *testing.T) goreleaser {
	t.Helper()
	var g goreleaser
	readStrictly(t, ".goreleaser.yaml", &g)
	if g.Version != 2 || len(g.Builds) != 1 || len(g.Archives) != 1 || len(g.SBOMs) != 1 {
		t.Fatalf("goreleaser's file: version %d, %d builds, %d archives, %d SBOMs", g.Version, len(g.Builds), len(g.Archives), len(g.SBOMs))
	}
	return g
}

// Every file that goreleaser takes is in the repository, or made by the hook before.
func TestGoreleaserTakesWhatExists(t *testing.T) {
	g := readGoreleaser(t)
	made := make(map[string]bool)
	for _, name := range []string{"seqgate.1.gz", "seqgate.bash", "_seqgate", "seqgate.fish"} {
		if !strings.Contains(readFile(t, "scripts/assets"), `>"$dir/`+name+`"`) {
			t.Errorf("scripts/assets does not make %s", name)
		}
		made["bin/assets/"+name] = true
	}
	paths := append([]string{g.Builds[0].Main}, g.Archives[0].Files...)
	for _, path := range paths {
		found, err := filepath.Glob(filepath.Join(root, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if len(found) == 0 && !made[path] && path != "bin/assets/*" {
			t.Errorf("%s is not in the repository", path)
		}
	}
}

// A release has the packages of both architectures, which goreleaser leaves to scripts/package, and their checksums.
func TestGoreleaserTakesThePackages(t *testing.T) {
	g := readGoreleaser(t)
	want := []string{"scripts/assets bin/assets", "rm -rf bin/packages"}
	for _, arch := range g.Builds[0].Goarch {
		want = append(want, "env VERSION={{ .Tag }} ARCH="+arch+" scripts/package bin/packages deb rpm")
	}
	if diff := cmp.Diff(want, g.Before.Hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	packages := []struct{ Glob string }{{"bin/packages/*.deb"}, {"bin/packages/*.rpm"}}
	if diff := cmp.Diff(packages, g.Release.ExtraFiles); diff != "" {
		t.Errorf("files of the release (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(packages, g.Checksum.ExtraFiles); diff != "" {
		t.Errorf("files with checksums (-want +got):\n%s", diff)
	}
}

// The SBOMs of a release and of make sbom are made by the same program, with the same flags.
func TestGoreleaserMakesTheSBOM(t *testing.T) {
	args := readGoreleaser(t).SBOMs[0].Args
	flags := strings.Join(args[:slices.Index(args, "-version")], " ")
	if script := strings.Join(strings.Fields(strings.ReplaceAll(readFile(t, "scripts/package"), "\\\n", "")), " "); !strings.Contains(script, "go "+flags+" -version") {
		t.Errorf("scripts/package does not call go %s", flags)
	}
}

// The release's version is what `seqgate version` prints: the flag names a variable that there is.
func TestGoreleaserSetsTheVersion(t *testing.T) {
	if got, want := readGoreleaser(t).Builds[0].Ldflags, "-X main.release={{ .Tag }}"; !strings.Contains(got, want) {
		t.Errorf("ldflags %q, want %q", got, want)
	}
	if !strings.Contains(readFile(t, "cmd/seqgate/main.go"), "\nvar release string\n") {
		t.Error("there is no variable main.release")
	}
}
