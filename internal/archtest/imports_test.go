package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/seqgate/seqgate"

// pkg is what `go list -json` says of a package; all import paths.
type pkg struct {
	ImportPath   string
	Imports      []string // of its own code, direct
	TestImports  []string
	XTestImports []string
	Deps         []string // of its own code, direct and through others
}

// layers: the packages under each of these never depend on those under the other ones, nor do their tests. Package
// parser finds where ids go, sequence makes them and vschema says for which columns; only proxy knows all three.
var layers = []struct{ path, never string }{
	{"parser", "sequence"}, {"parser", "vschema"}, {"parser", "proxy"},
	{"sequence", "parser"}, {"sequence", "vschema"}, {"sequence", "proxy"},
	{"vschema", "parser"}, {"vschema", "sequence"}, {"vschema", "proxy"},
	{"parser", "internal/config"}, {"sequence", "internal/config"}, {"vschema", "internal/config"}, {"proxy", "internal/config"}, // commands read it
}

// homes: the only packages whose own code imports these libraries. Tests may import what they need.
var homes = []struct {
	library string
	only    []string
}{
	{"github.com/go-mysql-org/go-mysql", []string{"proxy"}},
	{"github.com/go-sql-driver/mysql", []string{"cmd", "internal/app", "internal/ops", "internal/config", "sequence", "driver", "internal/servertest", "internal/soak", "bench"}},
	{"github.com/pingcap/tidb/pkg/parser", []string{"parser"}},
	{"github.com/prometheus/client_golang", []string{"proxy/admin"}}, // what else counts does so by itself
	{"github.com/chromedp", []string{"internal/browsertest"}},        // which only tests import
	{demoEngine, []string{"internal/demoengine"}},
	{etcdLibrary, []string{"sequence/worker/etcd"}},
	{grpcLibrary, []string{"sequence/worker/etcd"}},
	{zooKeeperLibrary, []string{"sequence/worker/zookeeper"}},
	{otelLibrary, []string{"internal/oteltrace"}},
	{"github.com/spf13/cobra", []string{"cmd"}},
	{"github.com/spf13/pflag", []string{"cmd"}},
	{"gonum.org", []string{"bench/internal/plot"}}, // with the fonts it measures texts by
}

// What is only in binaries that are built with the tag etcd or zookeeper. The demo's engine has gRPC's error codes.
const (
	etcdLibrary      = "go.etcd.io/etcd"
	grpcLibrary      = "google.golang.org/grpc"
	zooKeeperLibrary = "github.com/go-zookeeper/zk"
)

// What exports spans is only in binaries that are built with the tag otel. The demo's engine has OpenTelemetry's interfaces.
const (
	otelLibrary  = "go.opentelemetry.io/otel"
	otelSDK      = otelLibrary + "/sdk"
	otelExporter = otelLibrary + "/exporters"
)

// demoEngine is a whole database: it must not get into what serves clients, nor into a binary built with the tag slim.
const demoEngine = "github.com/dolthub/go-mysql-server"

var serving = []string{"proxy", "sequence", "parser", "vschema"}

func TestLayers(t *testing.T) {
	for _, problem := range layerProblems(listPackages(t)) {
		t.Error(problem)
	}
}

func TestLibrariesStayHome(t *testing.T) {
	for _, problem := range homeProblems(listPackages(t)) {
		t.Error(problem)
	}
}

func TestServingPackagesAreFreeOfTheDemoEngine(t *testing.T) {
	for _, problem := range engineProblems(listPackages(t), serving...) {
		t.Error(problem)
	}
}

func TestSlimBuildIsFreeOfTheDemoEngine(t *testing.T) {
	for _, problem := range engineProblems(listPackages(t, "-tags=slim"), "") {
		t.Error(problem)
	}
}

// TestWorkerStoresAreBuildChoices looks at what is linked into the command with each of the tags.
func TestWorkerStoresAreBuildChoices(t *testing.T) {
	for _, test := range []struct {
		name, tags string
		want       []string
	}{
		{"default", "", nil},
		{"slim", "slim", nil},
		{"etcd", "slim,etcd", []string{etcdLibrary, grpcLibrary}},
		{"zookeeper", "slim,zookeeper", []string{zooKeeperLibrary}},
		{"both", "etcd,zookeeper", []string{etcdLibrary, grpcLibrary, zooKeeperLibrary}},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := listed(t, "-tags="+test.tags, module+"/cmd/seqgate")[0]
			var got []string
			for _, library := range []string{etcdLibrary, grpcLibrary + "/internal/transport", zooKeeperLibrary} {
				if firstWithin(command.Deps, library, "") != "" {
					got = append(got, strings.TrimSuffix(library, "/internal/transport"))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("linked with the tags %q (-want +got):\n%s", test.tags, diff)
			}
		})
	}
}

// TestTracingIsABuildChoice looks at what is linked into the command with the tag otel and without.
func TestTracingIsABuildChoice(t *testing.T) {
	for _, test := range []struct {
		tags string
		want bool
	}{{"", false}, {"slim", false}, {"slim,etcd,zookeeper", false}, {"otel", true}, {"slim,otel", true}} {
		command := listed(t, "-tags="+test.tags, module+"/cmd/seqgate")[0]
		for _, library := range []string{otelSDK, otelExporter} {
			if dep := firstWithin(command.Deps, library, ""); (dep != "") != test.want {
				t.Errorf("with the tags %q: linked is %q, want something of %s: %v", test.tags, dep, library, test.want)
			}
		}
	}
}

func layerProblems(packages []pkg) []string {
	var problems []string
	for _, p := range packages {
		all := slices.Concat(p.Deps, p.TestImports, p.XTestImports)
		for _, l := range layers {
			if !within(p.ImportPath, module, l.path) {
				continue
			}
			if dep := firstWithin(all, module, l.never); dep != "" {
				problems = append(problems, fmt.Sprintf("%s depends on %s", p.ImportPath, dep))
			}
		}
	}
	return problems
}

func homeProblems(packages []pkg) []string {
	var problems []string
	for _, p := range packages {
		for _, h := range homes {
			dep := firstWithin(p.Imports, h.library, "")
			home := func(path string) bool { return within(p.ImportPath, module, path) }
			if dep != "" && !slices.ContainsFunc(h.only, home) {
				problems = append(problems, fmt.Sprintf("%s imports %s, which only %v may", p.ImportPath, dep, h.only))
			}
		}
	}
	return problems
}

// engineProblems finds dependencies on the demo's engine in the packages at and under paths; "" is the whole module.
func engineProblems(packages []pkg, paths ...string) []string {
	var problems []string
	for _, p := range packages {
		inPaths := func(path string) bool { return within(p.ImportPath, module, path) }
		if dep := firstWithin(p.Deps, demoEngine, ""); dep != "" && slices.ContainsFunc(paths, inPaths) {
			problems = append(problems, fmt.Sprintf("%s depends on %s", p.ImportPath, dep))
		}
	}
	return problems
}

// within reports whether importPath is base/path or under it; path may be empty.
func within(importPath, base, path string) bool {
	tree := strings.TrimSuffix(base+"/"+path, "/")
	return importPath == tree || strings.HasPrefix(importPath, tree+"/")
}

func firstWithin(imports []string, base, path string) string {
	i := slices.IndexFunc(imports, func(s string) bool { return within(s, base, path) })
	if i < 0 {
		return ""
	}
	return imports[i]
}

// listPackages returns the packages of the module, at least those that the rules are about.
func listPackages(t *testing.T, flags ...string) []pkg {
	t.Helper()
	packages := listed(t, slices.Concat(flags, []string{module + "/..."})...)
	for _, path := range serving {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return p.ImportPath == module+"/"+path }) {
			t.Fatalf("go list shows no package %s: the rules would hold for nothing", path)
		}
	}
	return packages
}

// listed returns what `go list` says of packages.
func listed(t *testing.T, args ...string) []pkg {
	t.Helper()
	args = slices.Concat([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps"}, args)
	out, err := exec.Command("go", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go %v: %v\n%s", args, err, exit.Stderr)
	}
	var packages []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

func TestProblemsAreFound(t *testing.T) {
	own := func(path string) string { return module + "/" + path }
	packages := []pkg{
		{ImportPath: own("parser"), Imports: []string{"fmt"}, Deps: []string{"fmt", own("internal/x"), own("sequence")}},
		{ImportPath: own("sequence/snowflake"), XTestImports: []string{own("vschema")}},
		{ImportPath: own("sequencer"), Deps: []string{own("vschema")}}, // another name with the same beginning
		{ImportPath: own("proxy"), Imports: []string{"github.com/go-sql-driver/mysql"}, Deps: []string{demoEngine + "/sql"}},
		{ImportPath: own("cmd/seqgate"), Imports: []string{"github.com/go-mysql-org/go-mysql/client"}},
		{ImportPath: own("internal/demoengine"), Imports: []string{demoEngine}, Deps: []string{demoEngine}},
	}
	for _, test := range []struct {
		name string
		got  []string
		want []string
	}{
		{"layers", layerProblems(packages), []string{
			own("parser") + " depends on " + own("sequence"),
			own("sequence/snowflake") + " depends on " + own("vschema"),
		}},
		{"homes", homeProblems(packages), []string{
			own("proxy") + " imports github.com/go-sql-driver/mysql, which only [cmd internal/app internal/ops internal/config sequence driver internal/servertest internal/soak bench] may",
			own("cmd/seqgate") + " imports github.com/go-mysql-org/go-mysql/client, which only [proxy] may",
		}},
		{"engine", engineProblems(packages, serving...), []string{own("proxy") + " depends on " + demoEngine + "/sql"}},
		{"engine in a slim build", engineProblems(packages, ""), []string{
			own("proxy") + " depends on " + demoEngine + "/sql", own("internal/demoengine") + " depends on " + demoEngine,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
