package packagetest

import (
	"path/filepath"
	"strings"
	"testing"
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
	NFPMs []struct {
		ID                                               string
		IDs, Formats, Dependencies                       []string
		FileNameTemplate                                 string `yaml:"file_name_template"`
		Maintainer, Homepage, License, Section, Priority string
		Description, Bindir, Umask, Mtime                string
		Contents                                         []nfpmContent
		Scripts                                          struct{ Postinstall, Preremove, Postremove string }
	} `yaml:"nfpms"`
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
	}
	Snapshot struct {
		VersionTemplate string `yaml:"version_template"`
	}
	Changelog struct{ Disable bool }
}

type nfpmContent struct {
	Src, Dst, Type string
	FileInfo       struct{ Mode string } `yaml:"file_info"`
}

func readGoreleaser(t *testing.T) goreleaser {
	t.Helper()
	var g goreleaser
	readStrictly(t, ".goreleaser.yaml", &g)
	if g.Version != 2 || len(g.Builds) != 1 || len(g.Archives) != 1 || len(g.NFPMs) != 1 {
		t.Fatalf("goreleaser's file: version %d, %d builds, %d archives, %d packages", g.Version, len(g.Builds), len(g.Archives), len(g.NFPMs))
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
	for _, hook := range g.Before.Hooks {
		paths = append(paths, strings.Fields(hook)[0])
	}
	for _, c := range g.NFPMs[0].Contents {
		paths = append(paths, c.Src)
	}
	s := g.NFPMs[0].Scripts
	paths = append(paths, s.Postinstall, s.Preremove, s.Postremove)
	for _, path := range paths {
		found, err := filepath.Glob(filepath.Join(root, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if len(found) == 0 && !made[path] && path != "bin/assets/*" {
			t.Errorf("%s is not in the repository", path)
		}
	}
	if want := "scripts/assets bin/assets"; len(g.Before.Hooks) != 1 || g.Before.Hooks[0] != want {
		t.Errorf("hooks %q, want %q", g.Before.Hooks, want)
	}
}

// The release's version is what `seqgate version` prints: the flag names a variable that there is.
func TestGoreleaserSetsTheVersion(t *testing.T) {
	if got, want := readGoreleaser(t).Builds[0].Ldflags, "-X main.release={{ .Tag }}"; !strings.Contains(got, want) {
		t.Errorf("ldflags %q, want %q", got, want)
	}
	if !strings.Contains(readFile(t, "cmd/seqgate/version.go"), "\nvar release string\n") {
		t.Error("there is no variable main.release")
	}
}
