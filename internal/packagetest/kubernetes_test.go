package packagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

const kubernetes = "deploy/kubernetes/"

// object is what the manifests have in common.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name   string
		Labels map[string]string
	}
}

type labels struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// deployment is the part of a Deployment that seqgate's has; any other key is an error.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/deployment-v1/
type deployment struct {
	object `yaml:",inline"`
	Spec   struct {
		Replicas int
		Selector labels
		Strategy struct {
			Type          string
			RollingUpdate struct {
				MaxUnavailable int `yaml:"maxUnavailable"`
				MaxSurge       int `yaml:"maxSurge"`
			} `yaml:"rollingUpdate"`
		}
		Template struct {
			Metadata struct{ Labels, Annotations map[string]string }
			Spec     podSpec
		}
	}
}

type podSpec struct {
	AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		RunAsGroup     int                   `yaml:"runAsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Affinity struct {
		PodAntiAffinity struct {
			Preferred []struct {
				Weight          int
				PodAffinityTerm struct {
					TopologyKey   string `yaml:"topologyKey"`
					LabelSelector labels `yaml:"labelSelector"`
				} `yaml:"podAffinityTerm"`
			} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`
		} `yaml:"podAntiAffinity"`
	}
	Containers []container
	Volumes    []struct {
		Name      string
		ConfigMap struct{ Name string } `yaml:"configMap"`
	}
}

type container struct {
	Name, Image string
	Args        []string
	Ports       []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	EnvFrom []struct {
		SecretRef struct{ Name string } `yaml:"secretRef"`
	} `yaml:"envFrom"`
	ReadinessProbe  probe `yaml:"readinessProbe"`
	LivenessProbe   probe `yaml:"livenessProbe"`
	Resources       struct{ Requests, Limits map[string]string }
	SecurityContext struct {
		AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds    int                         `yaml:"periodSeconds"`
	FailureThreshold int                         `yaml:"failureThreshold"`
}

type configMap struct {
	object `yaml:",inline"`
	Data   map[string]string
}

type secret struct {
	object     `yaml:",inline"`
	Type       string
	StringData map[string]string `yaml:"stringData"`
}

type service struct {
	object `yaml:",inline"`
	Spec   struct {
		Selector map[string]string
		Ports    []struct {
			Name       string
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
	}
}

type disruptionBudget struct {
	object `yaml:",inline"`
	Spec   struct {
		MinAvailable int `yaml:"minAvailable"`
		Selector     labels
	}
}

// networkPolicy is the part of a NetworkPolicy that seqgate's has.
// https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
type networkPolicy struct {
	object `yaml:",inline"`
	Spec   struct {
		PodSelector labels   `yaml:"podSelector"`
		PolicyTypes []string `yaml:"policyTypes"`
		Ingress     []struct {
			From []struct {
				PodSelector       *labels `yaml:"podSelector"`
				NamespaceSelector *labels `yaml:"namespaceSelector"`
			}
			Ports []struct{ Port, Protocol string }
		}
	}
}

// podMonitor is the part of a PodMonitor that seqgate's has.
// https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PodMonitor
type podMonitor struct {
	object `yaml:",inline"`
	Spec   struct {
		JobLabel            string `yaml:"jobLabel"`
		Selector            labels
		PodMetricsEndpoints []struct {
			Port, Path string
			BasicAuth  struct{ Username, Password struct{ Name, Key string } } `yaml:"basicAuth"`
		} `yaml:"podMetricsEndpoints"`
	}
}

// manifests are all that kustomization.yaml names.
type manifests struct {
	deployment deployment
	config     configMap
	secret     secret
	service    service
	budget     disruptionBudget
	policy     networkPolicy
}

func readManifests(t *testing.T) manifests {
	t.Helper()
	var m manifests
	files := map[string]any{
		"deployment.yaml": &m.deployment, "configmap.yaml": &m.config, "secret.yaml": &m.secret, "service.yaml": &m.service,
		"poddisruptionbudget.yaml": &m.budget, "networkpolicy.yaml": &m.policy,
	}
	var k struct {
		object    `yaml:",inline"`
		Resources []string
	}
	readStrictly(t, kubernetes+"kustomization.yaml", &k)
	if len(k.Resources) != len(files) {
		t.Errorf("kustomization.yaml names %q, want %d files", k.Resources, len(files))
	}
	for _, name := range k.Resources {
		into, ok := files[name]
		if !ok {
			t.Errorf("kustomization.yaml names %s, which is not tested", name)
			continue
		}
		if name == "secret.yaml" {
			name = "secret.example.yaml" // of which who installs it makes the other
		}
		readStrictly(t, kubernetes+name, into)
	}
	return m
}

func readMonitor(t *testing.T) (m podMonitor) {
	t.Helper()
	readStrictly(t, kubernetes+"podmonitor.yaml", &m)
	return m
}

func TestKubernetesKinds(t *testing.T) {
	m := readManifests(t)
	for _, tt := range []struct {
		object     object
		api, kinds string
	}{
		{m.deployment.object, "apps/v1", "Deployment"}, {m.config.object, "v1", "ConfigMap"}, {m.secret.object, "v1", "Secret"},
		{m.service.object, "v1", "Service"}, {m.budget.object, "policy/v1", "PodDisruptionBudget"},
		{m.policy.object, "networking.k8s.io/v1", "NetworkPolicy"}, {readMonitor(t).object, "monitoring.coreos.com/v1", "PodMonitor"},
	} {
		if tt.object.APIVersion != tt.api || tt.object.Kind != tt.kinds || tt.object.Metadata.Name != "seqgate" {
			t.Errorf("%+v, want %s %s seqgate", tt.object, tt.api, tt.kinds)
		}
	}
	of := m.deployment.Spec.Template.Metadata.Labels
	anti := m.deployment.Spec.Template.Spec.Affinity.PodAntiAffinity.Preferred
	if len(anti) != 1 || len(of) == 0 {
		t.Fatalf("anti-affinity %+v, labels %v", anti, of)
	}
	for name, selector := range map[string]map[string]string{
		"Deployment": m.deployment.Spec.Selector.MatchLabels, "Service": m.service.Spec.Selector,
		"PodDisruptionBudget": m.budget.Spec.Selector.MatchLabels, "NetworkPolicy": m.policy.Spec.PodSelector.MatchLabels,
		"PodMonitor": readMonitor(t).Spec.Selector.MatchLabels, "anti-affinity": anti[0].PodAffinityTerm.LabelSelector.MatchLabels,
	} {
		if diff := cmp.Diff(of, selector); diff != "" {
			t.Errorf("%s selects other pods (-labels +selector):\n%s", name, diff)
		}
	}
	if r := m.deployment.Spec.Replicas; m.budget.Spec.MinAvailable >= r {
		t.Errorf("%d replicas, of which %d have to stay: no node can be drained", r, m.budget.Spec.MinAvailable)
	}
}

// gateConfig is the part of the seqgate.yaml in the ConfigMap that the other manifests have to agree with.
type gateConfig struct {
	Listen string
	Admin  struct {
		Listen      string
		PasswordEnv string `yaml:"password_env"`
	}
	VSchema      string
	Lameduck     time.Duration `yaml:"lameduck_period"`
	DrainTimeout time.Duration `yaml:"drain_timeout"`
}

// The configuration that pods get, with the variables of the secret, is right.
func TestKubernetesConfig(t *testing.T) {
	m := readManifests(t)
	dir := t.TempDir()
	for name, text := range m.config.Data {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var env []string
	for name, text := range m.secret.StringData {
		if strings.HasSuffix(name, "_DSN") {
			text = nowhere(t, text, len(env))
		}
		env = append(env, name+"="+text)
		if name != "ADMIN_USER" && !strings.Contains(m.config.Data["seqgate.yaml"], name) { // that is the monitor's
			t.Errorf("the configuration does not use %s of the secret", name)
		}
	}
	c := onlyContainer(t, m)
	mount := c.VolumeMounts[0].MountPath
	file, ok := strings.CutPrefix(c.Args[slices.Index(c.Args, "--config")+1], mount+"/")
	if !ok || m.config.Data[file] == "" {
		t.Fatalf("seqgate is called with %q, and the ConfigMap is mounted at %s", c.Args, mount)
	}
	checkConfig(t, filepath.Join(dir, file), env...)
	v := m.deployment.Spec.Template.Spec.Volumes
	if len(v) != 1 || v[0].Name != c.VolumeMounts[0].Name || v[0].ConfigMap.Name != m.config.Metadata.Name {
		t.Errorf("volumes %+v, want the ConfigMap as %s", v, c.VolumeMounts[0].Name)
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != m.secret.Metadata.Name {
		t.Errorf("environment from %+v, want the secret", c.EnvFrom)
	}
}

// nowhere is a DSN whose server cannot be reached, on this machine; another one for each n.
func nowhere(t *testing.T, dsn string, n int) string {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c.Addr = fmt.Sprint("127.0.0.1:", 1+n)
	return c.FormatDSN()
}

func onlyContainer(t *testing.T, m manifests) container {
	t.Helper()
	c := m.deployment.Spec.Template.Spec.Containers
	if len(c) != 1 || len(c[0].VolumeMounts) != 1 {
		t.Fatalf("containers %+v, want one with one volume", c)
	}
	return c[0]
}

// Ports and probes are where seqgate listens, and a pod has the time to stop.
func TestKubernetesAgreesWithItsConfig(t *testing.T) {
	m := readManifests(t)
	var cfg gateConfig
	if err := yaml.Unmarshal([]byte(m.config.Data["seqgate.yaml"]), &cfg); err != nil {
		t.Fatal(err)
	}
	c := onlyContainer(t, m)
	got := map[string]string{}
	for _, p := range c.Ports {
		got[p.Name] = fmt.Sprint("0.0.0.0:", p.ContainerPort)
	}
	if diff := cmp.Diff(map[string]string{"mysql": cfg.Listen, "admin": cfg.Admin.Listen}, got); diff != "" {
		t.Errorf("ports (-configuration +container):\n%s", diff)
	}
	for path, p := range map[string]probe{"/readyz": c.ReadinessProbe, "/livez": c.LivenessProbe} {
		if p.HTTPGet.Path != path || p.HTTPGet.Port != "admin" || p.PeriodSeconds < 1 || p.FailureThreshold < 1 {
			t.Errorf("probe %+v, want one of %s at the admin port", p, path)
		}
	}
	// The admin address is open to the network of pods: with a password, which the monitor has.
	e := readMonitor(t).Spec.PodMetricsEndpoints
	if cfg.Admin.PasswordEnv == "" || m.secret.StringData[cfg.Admin.PasswordEnv] == "" || len(e) != 1 || e[0].Port != "admin" || e[0].Path != "/metrics" ||
		e[0].BasicAuth.Password.Name != m.secret.Metadata.Name || e[0].BasicAuth.Password.Key != cfg.Admin.PasswordEnv ||
		m.secret.StringData[e[0].BasicAuth.Username.Key] == "" {
		t.Errorf("the monitor has %+v, want the password of the admin address, %q", e, cfg.Admin.PasswordEnv)
	}
	open := map[string]bool{}
	for _, rule := range m.policy.Spec.Ingress {
		for _, p := range rule.Ports {
			open[p.Port] = len(rule.From) == 1 && (p.Port == "mysql") == (rule.From[0].PodSelector != nil)
		}
	}
	if diff := cmp.Diff(map[string]bool{"mysql": true, "admin": true}, open); diff != "" {
		t.Errorf("the policy lets in (-want +got):\n%s", diff)
	}
	if s := m.service.Spec.Ports; len(s) != 1 || s[0].TargetPort != "mysql" {
		t.Errorf("the service has the ports %+v, want mysql", s)
	}
	pod := m.deployment.Spec.Template.Spec
	grace := time.Duration(pod.TerminationGracePeriodSeconds) * time.Second
	if cfg.DrainTimeout == 0 || cfg.Lameduck == 0 || grace < cfg.Lameduck+cfg.DrainTimeout+10*time.Second {
		t.Errorf("%v to stop for a lameduck_period of %v and a drain_timeout of %v", grace, cfg.Lameduck, cfg.DrainTimeout)
	}
}

// The pod may do no more than it needs, as the image's own user.
func TestKubernetesSecurity(t *testing.T) {
	m := readManifests(t)
	pod, c := m.deployment.Spec.Template.Spec, onlyContainer(t, m)
	if s := pod.SecurityContext; !s.RunAsNonRoot || s.SeccompProfile.Type != "RuntimeDefault" ||
		!strings.Contains(readFile(t, "Dockerfile"), fmt.Sprintf("\nUSER %d:%d\n", s.RunAsUser, s.RunAsGroup)) {
		t.Errorf("the pod's security context is %+v, want the user of the image", s)
	}
	if s := c.SecurityContext; s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("the container's security context is %+v", s)
	}
	if c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" || pod.AutomountServiceAccountToken {
		t.Errorf("resources %+v, token mounted: %v", c.Resources, pod.AutomountServiceAccountToken)
	}
}
