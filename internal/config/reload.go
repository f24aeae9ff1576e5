package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reloadable are the keys of the configuration that count without a restart, after a reload.
var reloadable = map[string]bool{
	"users": true, "limits.connections": true, "limits.per_user": true,
	"timeouts.handshake": true, "timeouts.idle": true, "timeouts.read": true, "timeouts.write": true, "timeouts.pause": true,
	"sequences.min_lifetime": true, "sequences.max_step": true, "sequences.max_n": true, "sequences.prefetch": true, "sequences.timeout": true,
	"lameduck_period": true, "drain_timeout": true, "log.level": true, "log.slow": true, "statement_shapes": true,
	"api.tokens": true,
}

// Given is what each key of a configuration was given, by its path: as YAML, with the hashes of the files that it names.
type Given map[string]string

// Reload compares what is in force with what the keys are given now. It returns what is in force after a reload, where keys
// that need a restart have what they had, and the keys that differ, in order and by whether they count at once. The lists
// are empty where nothing differs, and never nil.
func (g Given) Reload(now Given) (inForce Given, reloaded, needRestart []string) {
	inForce, reloaded, needRestart = Given{}, []string{}, []string{}
	all := map[string]string{}
	maps.Copy(all, g)
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		old, had := g[key]
		text, has := now[key]
		switch {
		case had == has && old == text:
		case reloadable[key]:
			reloaded = append(reloaded, key)
		default:
			needRestart = append(needRestart, key)
			text, has = old, had
		}
		if has {
			inForce[key] = text
		}
	}
	return inForce, reloaded, needRestart
}

// given returns what each key was given, as YAML, and behind it the hashes of the files that it names.
func (r *reader) given() Given {
	given := make(Given, len(r.set))
	for key, v := range r.set {
		given[key] = v.yaml()
	}
	for _, f := range r.read {
		for key := range r.set {
			if rest, ok := strings.CutPrefix(f.path, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				given[key] += fmt.Sprintf("# %s: %x\n", f.path, f.hash)
			}
		}
	}
	return given
}
