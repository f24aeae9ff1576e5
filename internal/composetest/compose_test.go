package composetest

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	gocmp "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

const root = "../.."

// composeFile is the part of the Compose specification that docker-compose.yml uses; any other key is an error.
// https://docs.docker.com/reference/compose-file/
type composeFile struct {
	Name     string
	MySQL    yaml.Node `yaml:"x-mysql"`
	Seqgate  yaml.Node `yaml:"x-seqgate"`
	Services map[string]service
	Volumes  map[string]*struct{}
}

type service struct {
	Image       string
	Build       string
	Profiles    []string
	Command     []string
	Restart     string
	StopGrace   string `yaml:"stop_grace_period"`
	Environment map[string]string
	Healthcheck *healthcheck
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Ports       []string
	Volumes     []string
}

type healthcheck struct {
	Test     []string
	Interval string
	Retries  int
}

func parseCompose(data []byte) (composeFile, error) {
	var c composeFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	return c, d.Decode(&c)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	c, err := parseCompose(readFile(t, "docker-compose.yml"))
	if err != nil {
		t.Fatalf("docker-compose.yml: %v", err)
	}
	return c
}

// problems lists, in order, the references of c that lead nowhere. exists reports whether a path from the repository's
// top is there.
func (c composeFile) problems(exists func(path string) bool) []string {
	var out []string
	used := map[string]bool{}
	report := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for name, s := range c.Services {
		if (s.Image == "") == (s.Build == "") {
			report("%s: image %q and build %q, want one of the two", name, s.Image, s.Build)
		}
		if s.Build != "" && !exists(filepath.Join(s.Build, "Dockerfile")) {
			report("%s: build %q has no Dockerfile", name, s.Build)
		}
		for other, d := range s.DependsOn {
			switch target, ok := c.Services[other]; {
			case !ok:
				report("%s: depends_on %q, which is no service", name, other)
			case d.Condition == "service_healthy" && target.Healthcheck == nil:
				report("%s: waits for the health of %q, which has no healthcheck", name, other)
			}
		}
		for _, port := range s.Ports {
			if parts := strings.Split(port, ":"); len(parts) != 3 || net.ParseIP(parts[0]) == nil {
				report("%s: port %q, want ADDRESS:PORT:PORT", name, port)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			_, declared := c.Volumes[source]
			switch isPath := strings.HasPrefix(source, "."); {
			case isPath && !exists(source):
				report("%s: volume %q: no such file", name, v)
			case !isPath && !declared:
				report("%s: volume %q is not declared", name, v)
			}
			used[source] = true
		}
	}
	for name := range c.Volumes {
		if !used[name] {
			report("volume %s is not used", name)
		}
	}
	slices.Sort(out)
	return out
}

func inRepository(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

func TestComposeRefersToWhatExists(t *testing.T) {
	for _, problem := range readCompose(t).problems(inRepository) {
		t.Error(problem)
	}
}

func TestComposeServices(t *testing.T) {
	var got []string
	for name := range readCompose(t).Services {
		got = append(got, name)
	}
	slices.Sort(got)
	want := []string{"grafana", "prometheus", "seqgate1", "seqgate2", "sequences", "shard-80", "shard80"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
}

func TestProblemsAreFound(t *testing.T) {
	for _, test := range []struct {
		name, yaml string
		want       []string
	}{
		{"sound", "services: {a: {image: x, volumes: ['v:/v']}, b: {build: ., depends_on: {a: {}}}}\nvolumes: {v: }", nil},
		{"no image", "services: {a: {}}", []string{`a: image "" and build "", want one of the two`}},
		{"no Dockerfile", "services: {a: {build: sub}}", []string{`a: build "sub" has no Dockerfile`}},
		{
			"unknown service", "services: {a: {image: x, depends_on: {b: {}}}}",
			[]string{`a: depends_on "b", which is no service`},
		},
		{
			"no healthcheck", "services: {a: {image: x}, b: {image: x, depends_on: {a: {condition: service_healthy}}}}",
			[]string{`b: waits for the health of "a", which has no healthcheck`},
		},
		{
			"no such file", "services: {a: {image: x, volumes: ['./gone:/v:ro']}}",
			[]string{`a: volume "./gone:/v:ro": no such file`},
		},
		{
			"volumes", "services: {a: {image: x, volumes: ['v:/v']}}\nvolumes: {w: }",
			[]string{`a: volume "v:/v" is not declared`, "volume w is not used"},
		},
		{"port", "services: {a: {image: x, ports: ['3307']}}", []string{`a: port "3307", want ADDRESS:PORT:PORT`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := parseCompose([]byte(test.yaml))
			if err != nil {
				t.Fatal(err)
			}
			got := c.problems(func(path string) bool { return path == "Dockerfile" })
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// mounted returns the path, from the repository's top, of the file that s mounts at target.
func (s service) mounted(target string) string {
	for _, v := range s.Volumes {
		if source, rest, _ := strings.Cut(v, ":"); rest == target || strings.HasPrefix(rest, target+":") {
			return source
		}
	}
	return ""
}

// configFile is the part of a seqgate.yaml that has to agree with docker-compose.yml.
type configFile struct {
	Listen    string
	VSchema   string
	Keyspaces map[string]struct{ Shards map[string]string }
}

func readConfig(t *testing.T, name string) configFile {
	t.Helper()
	var c configFile
	if err := yaml.Unmarshal(readFile(t, name), &c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// seqgates are the services that run seqgate, of which there are two.
func (c composeFile) seqgates(t *testing.T) map[string]service {
	t.Helper()
	found := map[string]service{}
	for name, s := range c.Services {
		if s.Build != "" {
			found[name] = s
		}
	}
	if len(found) != 2 {
		t.Fatalf("%d services are built, want two seqgates", len(found))
	}
	return found
}

// The address each seqgate listens on is one published, and its servers are services with that database and user, all of
// which are waited for.
func TestConfigAgreesWithCompose(t *testing.T) {
	compose := readCompose(t)
	published := map[string]string{}
	for name, seqgate := range compose.seqgates(t) {
		config := readConfig(t, cmp.Or(seqgate.mounted(configPath(t)), "no configuration is mounted"))
		_, port, err := net.SplitHostPort(config.Listen)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(seqgate.Ports, func(p string) bool { return strings.HasSuffix(p, ":"+port) }) {
			t.Errorf("%s: published ports %v, want the port %s that seqgate listens on", name, seqgate.Ports, port)
		}
		for _, p := range seqgate.Ports {
			if other, twice := published[p]; twice {
				t.Errorf("%s and %s are both published at %s", other, name, p)
			}
			published[p] = name
		}
		if vschema := path.Join(path.Dir(configPath(t)), config.VSchema); seqgate.mounted(vschema) == "" {
			t.Errorf("%s: the vschema %s is not mounted", name, vschema)
		}
		for keyspace, k := range config.Keyspaces {
			for shard, dsn := range k.Shards {
				checkServer(t, compose, seqgate, keyspace+"/"+shard, dsn)
			}
		}
	}
}

func checkServer(t *testing.T, compose composeFile, seqgate service, shard, dsn string) {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("%s: %v", shard, err)
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		t.Fatalf("%s: %v", shard, err)
	}
	if _, waits := seqgate.DependsOn[host]; !waits {
		t.Errorf("%s: seqgate does not wait for the service %q", shard, host)
	}
	env := compose.Services[host].Environment
	got := []string{c.User, c.Passwd, c.DBName}
	want := []string{env["MYSQL_USER"], env["MYSQL_PASSWORD"], env["MYSQL_DATABASE"]}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s: user, password and database of service %q (-want +got):\n%s", shard, host, diff)
	}
}
