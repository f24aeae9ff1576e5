package config

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/vschema"
)

const environmentPrefix = "SEQGATE_"

// Environment is the names of the variables that Get was asked for: all that the configuration knows, by themselves or as the
// name that a password_env or the like gives.
type Environment map[string]bool

// Get returns the value of a variable of the process, "" for one that is not set. It is a [Loader]'s Getenv.
func (e Environment) Get(name string) string {
	e[name] = true
	return os.Getenv(name)
}

// Unknown returns an error for each SEQGATE_* variable of environ, as [os.Environ] has them, that nothing has asked for and no
// generator of v names: a setting that would silently not be made. The error is a [vschema.Errors]; v may be nil.
func (e Environment) Unknown(environ []string, v *vschema.VSchema) error {
	e.addGenerators(v)
	var errs vschema.Errors
	for _, setting := range environ {
		name, value, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, environmentPrefix) || e[name] || isOthers(name, value) {
			continue
		}
		known := slices.DeleteFunc(slices.Collect(maps.Keys(e)), func(name string) bool { return !strings.HasPrefix(name, environmentPrefix) })
		advice := vschema.Suggest(name, known)
		if !strings.HasPrefix(advice, "did you mean") {
			advice = "see docs/configuration.md for their names, and unset it"
		}
		errs = append(errs, vschema.Error{File: "environment", Message: name + ": no setting has this name: " + advice})
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// isOthers reports whether a variable is not the configuration's: one of this project's tests, or of Kubernetes, which makes
// some for a service that is called seqgate (SEQGATE_SERVICE_HOST, SEQGATE_PORT_3307_TCP, SEQGATE_MYSQL_SERVICE_PORT), or whose
// name begins so (SEQGATE_ADMIN_PORT=tcp://10.0.0.7:9090 for seqgate-admin).
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
func isOthers(name, value string) bool {
	name = strings.TrimPrefix(name, environmentPrefix)
	return strings.HasPrefix(name, "TEST_") || strings.HasPrefix(name, "CHAOS_") || name == "PORT" || strings.HasPrefix(name, "PORT_") ||
		strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://") ||
		strings.Contains(name, "SERVICE_HOST") || strings.Contains(name, "SERVICE_PORT") || strings.Contains(name, "_PORT_")
}

// addGenerators adds the variables that generators of the vschema name.
func (e Environment) addGenerators(v *vschema.VSchema) {
	if v == nil {
		return
	}
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Segments != nil {
				e[g.Segments.URLEnv] = true
			}
		}
	}
}
