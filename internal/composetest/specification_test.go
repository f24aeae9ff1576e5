package composetest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	gocmp "github.com/google/go-cmp/cmp"
)

// loadProject reads docker-compose.yml as Docker Compose does: held to the specification's schema, with anchors merged,
// and with the services of these profiles only.
func loadProject(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: "docker-compose.yml", Content: readFile(t, "docker-compose.yml")}},
		Environment: types.Mapping{},
	}, func(o *loader.Options) { o.Profiles = profiles })
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// Without the profile monitoring there is what seqgate needs, with it Prometheus and Grafana too.
func TestComposeProfiles(t *testing.T) {
	plain := []string{"seqgate1", "seqgate2", "sequences", "shard-80", "shard80"}
	for _, tt := range []struct{ profiles, want []string }{
		{nil, plain},
		{[]string{"monitoring"}, append([]string{"grafana", "prometheus"}, plain...)},
	} {
		got := loadProject(t, tt.profiles...).ServiceNames()
		slices.Sort(got)
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("services with profiles %v (-want +got):\n%s", tt.profiles, diff)
		}
	}
}

// Each seqgate is asked for its health by the image's own program, with the configuration that it runs with.
func TestComposeAsksForHealth(t *testing.T) {
	project := loadProject(t)
	stages := readDockerfile(t)
	entry := stages[len(stages)-1].find("ENTRYPOINT")
	want := append([]string{"CMD"}, append(entry, "health", "--config", configPath(t))...)
	for _, name := range []string{"seqgate1", "seqgate2"} {
		h := project.Services[name].HealthCheck
		if h == nil || !slices.Equal(h.Test, want) {
			t.Errorf("%s: health check %+v, want %q", name, h, want)
		}
	}
	image := stages[len(stages)-1].find("HEALTHCHECK")
	cmd := slices.Index(image, "CMD")
	if cmd < 0 {
		t.Fatalf("HEALTHCHECK %q, want a CMD", image)
	}
	if got := unquoted(t, image[cmd+1:]); !slices.Equal(got, want[1:]) {
		t.Errorf("HEALTHCHECK %q, want %q", got, want[1:])
	}
}
