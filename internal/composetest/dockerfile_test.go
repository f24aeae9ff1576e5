package composetest

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// stage is what a Dockerfile says from one FROM to the next.
type stage struct {
	image, name string
	steps       []step
}

// step is one instruction; words has its arguments, unquoted when they are a JSON list.
type step struct {
	instruction string
	words       []string
}

func readDockerfile(t *testing.T) []stage {
	t.Helper()
	var stages []stage
	for line := range strings.Lines(string(readFile(t, "Dockerfile"))) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		instruction, rest, _ := strings.Cut(line, " ")
		s := step{instruction, strings.Fields(rest)}
		if strings.HasPrefix(rest, "[") {
			s.words = nil
			if err := json.Unmarshal([]byte(rest), &s.words); err != nil {
				t.Fatalf("Dockerfile: %s: %v", line, err)
			}
		}
		switch {
		case instruction == "FROM":
			stages = append(stages, stage{image: s.words[0], name: s.words[len(s.words)-1]})
		case len(stages) == 0:
			t.Fatalf("Dockerfile: %s stands before FROM", line)
		default:
			last := &stages[len(stages)-1]
			last.steps = append(last.steps, s)
		}
	}
	if len(stages) < 2 {
		t.Fatalf("Dockerfile: %d stages, want one to build in and one to run in", len(stages))
	}
	return stages
}

// find returns the arguments of the last instruction of that name, nil when there is none.
func (s stage) find(instruction string) []string {
	for _, step := range slices.Backward(s.steps) {
		if step.instruction == instruction {
			return step.words
		}
	}
	return nil
}

// configPath is where the image's own command looks for the configuration.
func configPath(t *testing.T) string {
	t.Helper()
	stages := readDockerfile(t)
	cmd := stages[len(stages)-1].find("CMD")
	i := slices.Index(cmd, "--config")
	if i < 0 || i+1 == len(cmd) {
		t.Fatalf("CMD %q, want one with --config PATH", cmd)
	}
	return cmd[i+1]
}

func TestDockerfileCopiesWhatExists(t *testing.T) {
	var earlier []string
	for _, s := range readDockerfile(t) {
		for _, step := range s.steps {
			if step.instruction != "COPY" {
				continue
			}
			sources := step.words[:len(step.words)-1]
			if from, ok := strings.CutPrefix(sources[0], "--from="); ok {
				if !slices.Contains(earlier, from) {
					t.Errorf("COPY %q: no stage %q before it", step.words, from)
				}
				continue
			}
			for _, source := range sources {
				if !inRepository(source) {
					t.Errorf("COPY %q: %s is not in the repository", step.words, source)
				}
			}
		}
		earlier = append(earlier, s.name)
	}
}

// The binary that is built is the one that is copied and run.
func TestDockerfileRunsWhatItBuilds(t *testing.T) {
	stages := readDockerfile(t)
	build, final := stages[0], stages[len(stages)-1]
	run := build.find("RUN")
	out := slices.Index(run, "-o")
	if out < 0 || !slices.Contains(run, "CGO_ENABLED=0") {
		t.Fatalf("RUN %q, want a static go build -o PATH", run)
	}
	if dir := run[len(run)-1]; !inRepository(dir) {
		t.Errorf("go build of %s, which is not in the repository", dir)
	}
	binary := run[out+1]
	if copied := []string{"--from=" + build.name, binary}; !slices.ContainsFunc(final.steps, func(s step) bool {
		return s.instruction == "COPY" && slices.Equal(s.words[:2], copied)
	}) {
		t.Errorf("no COPY %s %s in the last stage", copied[0], copied[1])
	}
	if got := final.find("ENTRYPOINT"); !slices.Equal(got, []string{path.Join("/", binary)}) {
		t.Errorf("ENTRYPOINT %q, want the binary %s", got, binary)
	}
}

func TestDockerfileFinalStageIsSmallAndUnprivileged(t *testing.T) {
	stages := readDockerfile(t)
	final := stages[len(stages)-1]
	if final.image != "scratch" {
		t.Errorf("image %s, want scratch", final.image)
	}
	if user := final.find("USER"); len(user) != 1 || strings.HasPrefix(user[0], "0") || user[0] == "root" {
		t.Errorf("USER %q, want one other than root", user)
	}
}

// The image has the Go that go.mod asks for.
func TestDockerfileGoVersion(t *testing.T) {
	var want string
	for line := range strings.Lines(string(readFile(t, "go.mod"))) {
		if version, ok := strings.CutPrefix(line, "go "); ok {
			want = strings.TrimSpace(version)
		}
	}
	_, got, _ := strings.Cut(readDockerfile(t)[0].image, "golang:")
	if want == "" || !strings.HasPrefix(want, got+".") && got != want {
		t.Errorf("golang:%s, want that of go.mod: %s", got, want)
	}
}

func TestSeqgateAcceptsTheConfig(t *testing.T) {
	for name, seqgate := range readCompose(t).seqgates(t) {
		file := filepath.Join(root, seqgate.mounted(configPath(t)))
		cmd := servertest.GoCommand("run", "github.com/seqgate/seqgate/cmd/seqgate", "check", "--config", file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: seqgate check: %v\n%s", name, err, out)
		}
	}
}
