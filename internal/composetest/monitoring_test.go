package composetest

import (
	"bytes"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// unquoted reads a JSON list that was split at its spaces.
func unquoted(t *testing.T, words []string) []string {
	t.Helper()
	var list []string
	if err := json.Unmarshal([]byte(strings.Join(words, " ")), &list); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return list
}

// readStrictly decodes a YAML file; keys that v does not have are errors.
func readStrictly(t *testing.T, name string, v any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(readFile(t, name)))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Prometheus asks each seqgate at its admin address.
func TestPrometheusAsksTheSeqgates(t *testing.T) {
	var c struct {
		Global        map[string]string
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string                       `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	const file = "deploy/prometheus/compose.yml"
	readStrictly(t, file, &c)
	compose := readCompose(t)
	var want []string
	for name, s := range compose.seqgates(t) {
		var config struct{ Admin struct{ Listen string } }
		if err := yaml.Unmarshal(readFile(t, s.mounted(configPath(t))), &config); err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(config.Admin.Listen)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, net.JoinHostPort(name, port))
	}
	slices.Sort(want)
	if len(c.ScrapeConfigs) != 1 || c.ScrapeConfigs[0].JobName != "seqgate" || len(c.ScrapeConfigs[0].StaticConfigs) != 1 {
		t.Fatalf("%+v, want one job seqgate", c.ScrapeConfigs)
	}
	if diff := gocmp.Diff(want, c.ScrapeConfigs[0].StaticConfigs[0].Targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	p := compose.Services["prometheus"]
	mounted := strings.TrimPrefix(p.mounted("/etc/prometheus"), "./")
	if want := "--config.file=/etc/prometheus/compose.yml"; mounted+"/compose.yml" != file || !slices.Contains(p.Command, want) {
		t.Errorf("command %q with %s mounted at /etc/prometheus, want %s of %s", p.Command, mounted, want, file)
	}
}

// Grafana finds Prometheus and the folder of the dashboard.
func TestGrafanaIsProvisioned(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			IsDefault                    bool `yaml:"isDefault"`
			Editable                     bool
		}
	}
	var dashboards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type      string
			DisableDeletion bool `yaml:"disableDeletion"`
			AllowUIUpdates  bool `yaml:"allowUiUpdates"`
			Options         struct{ Path string }
		}
	}
	const folder = "deploy/grafana/provisioning"
	readStrictly(t, folder+"/datasources/prometheus.yml", &sources)
	readStrictly(t, folder+"/dashboards/seqgate.yml", &dashboards)
	if len(sources.Datasources) != 1 || len(dashboards.Providers) != 1 {
		t.Fatalf("%+v, %+v, want one of each", sources, dashboards)
	}
	grafana := readCompose(t).Services["grafana"]
	if got := grafana.mounted("/etc/grafana/provisioning"); got != "./"+folder {
		t.Errorf("%q is mounted for provisioning, want %s", got, folder)
	}
	if got := grafana.mounted(dashboards.Providers[0].Options.Path); got != "./deploy/grafana" {
		t.Errorf("%q is mounted for dashboards, want deploy/grafana", got)
	}
	if s := sources.Datasources[0]; s.Type != "prometheus" || s.URL != "http://prometheus:9090" || !s.IsDefault {
		t.Errorf("data source %+v, want the service prometheus", s)
	}
}
