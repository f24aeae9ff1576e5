package packagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

const chart = "deploy/helm/seqgate"

// values are a chart's, or any other part of a YAML document.
type values = map[string]any

// With the same configuration the chart makes the objects of deploy/kubernetes, but for the secret, which has to be there, and
// the label with the release's name.
func TestHelmAgreesWithKubernetes(t *testing.T) {
	got := renderChart(t, kubernetesValues(t))
	want := make(map[string]values)
	for _, name := range []string{"configmap", "deployment", "service", "poddisruptionbudget", "networkpolicy", "podmonitor"} {
		object := values{}
		readStrictly(t, kubernetes+name+".yaml", &object)
		want[object["kind"].(string)] = parseData(t, object)
	}
	rule := got["PrometheusRule"]
	delete(got, "PrometheusRule")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-deploy/kubernetes +chart):\n%s", diff)
	}
	var alerts values
	readStrictly(t, "deploy/prometheus/alerts.yml", &alerts)
	if diff := cmp.Diff(alerts, rule["spec"]); diff != "" {
		t.Errorf("alerts (-deploy/prometheus/alerts.yml +chart):\n%s", diff)
	}
}

// The example in values.yaml is a configuration that seqgate takes, and it listens where the ports and the probes are.
func TestHelmValues(t *testing.T) {
	objects := renderChart(t, exampleValues(t))
	for _, kind := range []string{"PodMonitor", "PrometheusRule"} {
		if objects[kind] != nil {
			t.Errorf("there is a %s, which not every cluster knows", kind)
		}
	}
	data := objects["ConfigMap"]["data"].(values)
	checkData(t, data)
	config := data["seqgate.yaml"].(values)
	if config["listen"] != "0.0.0.0:3307" || config["admin"].(values)["listen"] != "0.0.0.0:3308" {
		t.Errorf("it listens at %v and %v, want the container's ports", config["listen"], config["admin"])
	}
}

// Without a vschema in its values the chart configures none, so that the tables are those beside sequence tables.
func TestHelmValuesWithoutVSchema(t *testing.T) {
	example := exampleValues(t)
	delete(example, "vschema")
	data := renderChart(t, example)["ConfigMap"]["data"].(values)
	checkData(t, data)
	if named := data["seqgate.yaml"].(values)["vschema"]; named != nil || data["vschema.json"] != nil {
		t.Errorf("the configuration names the vschema %v, which is %v, want none", named, data["vschema.json"])
	}
}

// exampleValues are those of values.yaml with its examples.
func exampleValues(t *testing.T) values {
	t.Helper()
	example := values{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(readFile(t, chart+"/values.yaml"), "\n  # ", "\n  ")), &example); err != nil {
		t.Fatal(err)
	}
	return example
}

// checkData fails the test unless seqgate takes the files of a ConfigMap.
func checkData(t *testing.T, data values) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range data {
		text, err := yaml.Marshal(content)
		if strings.HasSuffix(name, ".json") {
			text, err = json.Marshal(content)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	checkConfig(t, filepath.Join(dir, "seqgate.yaml"), "APP_PASSWORD=a", "ADMIN_PASSWORD=b", "MAIN_DSN=app:a@tcp(127.0.0.1:1)/main")
}

// Helm renders the chart as renderChart does, and finds nothing to say against it. make helm installs Helm for this.
func TestHelmItself(t *testing.T) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skipf("%v: make helm runs this test", err)
	}
	set := kubernetesValues(t)
	text, err := yaml.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, helm, "lint", "--strict", filepath.Join(root, chart), "--values", file)
	out, err := exec.Command(helm, "template", "seqgate", filepath.Join(root, chart), "--values", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(renderChart(t, set), parseObjects(t, out)); diff != "" {
		t.Errorf("objects (-renderChart +helm template):\n%s", diff)
	}
}

// kubernetesValues are the values with which the chart makes what deploy/kubernetes has.
func kubernetesValues(t *testing.T) values {
	t.Helper()
	object := values{}
	readStrictly(t, kubernetes+"configmap.yaml", &object)
	data := parseData(t, object)["data"].(values)
	return values{
		"config": data["seqgate.yaml"], "vschema": data["vschema.json"],
		"podMonitor": values{"enabled": true}, "alerts": values{"enabled": true},
	}
}

// parseData replaces the files of a ConfigMap by what is in them, and leaves other objects as they are.
func parseData(t *testing.T, object values) values {
	t.Helper()
	data, ok := object["data"].(values)
	if !ok {
		return object
	}
	for name, text := range data {
		var content any
		if err := yaml.Unmarshal([]byte(text.(string)), &content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data[name] = content
	}
	return object
}

// renderChart renders the chart's templates as release seqgate with text/template and those of Helm's functions that they use,
// so that no test needs Helm. It returns the objects by kind.
func renderChart(t *testing.T, set values) map[string]values {
	t.Helper()
	about, all := values{}, values{}
	readStrictly(t, chart+"/Chart.yaml", &about)
	readStrictly(t, chart+"/values.yaml", &all)
	for name := range set {
		if _, ok := all[name]; !ok {
			t.Errorf("values.yaml has no %s", name)
		}
	}
	maps.Copy(all, set)
	top := template.New("").Option("missingkey=error")
	top.Funcs(helmFuncs(top))
	if _, err := top.ParseGlob(filepath.Join(root, chart, "templates/*")); err != nil {
		t.Fatal(err)
	}
	dot := values{
		"Values": all, "Release": values{"Name": "seqgate"}, "Chart": values{"AppVersion": about["appVersion"]}, "Files": chartFiles{t},
	}
	var out bytes.Buffer
	for _, one := range top.Templates() {
		if !strings.HasSuffix(one.Name(), ".yaml") {
			continue
		}
		out.WriteString("\n---\n")
		if err := one.Execute(&out, dot); err != nil {
			t.Fatal(err)
		}
	}
	return parseObjects(t, out.Bytes())
}

// chartFiles are .Files of a chart.
type chartFiles struct{ t *testing.T }

// Get returns a file of the chart.
func (f chartFiles) Get(name string) string {
	f.t.Helper()
	return readFile(f.t, chart+"/"+name)
}

// helmFuncs are the functions that the chart uses, as Helm documents them.
// https://helm.sh/docs/chart_template_guide/function_list/
func helmFuncs(top *template.Template) template.FuncMap {
	encode := func(v any) (string, error) {
		text, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	toJSON := func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	}
	return template.FuncMap{
		"include": func(name string, dot any) (string, error) {
			var out strings.Builder
			err := top.ExecuteTemplate(&out, name, dot)
			return out.String(), err
		},
		"default": func(otherwise, v any) any {
			if v == "" || v == nil {
				return otherwise
			}
			return v
		},
		"required": func(what string, v any) (any, error) {
			if v == nil {
				return nil, errors.New(what)
			}
			return v, nil
		},
		"dict": func(pairs ...any) values {
			d := values{}
			for i := 0; i < len(pairs); i += 2 {
				d[pairs[i].(string)] = pairs[i+1]
			}
			return d
		},
		"set": func(d values, name string, v any) values {
			d[name] = v
			return d
		},
		"merge": func(into, from values) values {
			for name, v := range from {
				if _, ok := into[name]; !ok {
					into[name] = v
				}
			}
			return into
		},
		"quote":  func(v string) (string, error) { return toJSON(v) },
		"int":    func(v int) int { return v },
		"toYaml": encode, "toJson": toJSON, "toPrettyJson": toJSON,
		"nindent": func(n int, text string) string {
			return strings.ReplaceAll("\n"+text, "\n", "\n"+strings.Repeat(" ", n))
		},
	}
}

// parseObjects are the objects in YAML documents by their kinds, without the release's label.
func parseObjects(t *testing.T, text []byte) map[string]values {
	t.Helper()
	objects := make(map[string]values)
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object values
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if object == nil {
			continue // a template that is switched off
		}
		kind := object["kind"].(string)
		if objects[kind] != nil {
			t.Errorf("there are two of the kind %s", kind)
		}
		dropInstance(object)
		objects[kind] = parseData(t, object)
	}
}

// dropInstance takes the label with the release's name out of all that an object has.
func dropInstance(v any) {
	switch v := v.(type) {
	case values:
		delete(v, "app.kubernetes.io/instance")
		for _, part := range v {
			dropInstance(part)
		}
	case []any:
		for _, part := range v {
			dropInstance(part)
		}
	}
}
