package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stated gives what the sample says of a key: the comment right above it, or else that of its section.
func stated(t *testing.T, key string) (isReloaded bool) {
	t.Helper()
	section, name, nested := strings.Cut(key, ".")
	text := string(sampleConfig)
	if !nested {
		name = section
	}
	if nested {
		_, rest, ok := strings.Cut(text, "\n"+section+":\n")
		if !ok {
			t.Fatalf("the sample has no section %s", section)
		}
		if says, found := statement(rest, `  (?:# )?`+name+`:`); found {
			return says
		}
		name = section
	}
	says, found := statement(text, `(?:# )?`+name+`:`)
	if !found {
		t.Errorf("the sample does not say whether %s is reloaded", key)
	}
	return says
}

// statement looks for "Reloaded" and "Not reloadable" in the comment above the first line that begins like that.
func statement(text, line string) (isReloaded, found bool) {
	at := regexp.MustCompile(`(?m)^` + line).FindStringIndex(text)
	if at == nil {
		return false, false
	}
	lines := strings.Split(strings.TrimSuffix(text[:at[0]], "\n"), "\n")
	for _, l := range slices.Backward(lines) {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "# ") {
			break
		}
		switch {
		case strings.Contains(l, "Not reloadable"):
			return false, true
		case strings.Contains(l, "Reloaded"):
			return true, true
		}
	}
	return false, false
}

// The sample says of each key whether it is reloaded, and is right.
func TestReloadableIsStated(t *testing.T) {
	keys := newReader(loader(os.Getenv)).settings
	for key := range keys {
		if got, want := stated(t, key), reloadable[key]; got != want {
			t.Errorf("%s: the sample says reloaded %v, and it is %v", key, got, want)
		}
	}
	for key := range reloadable {
		if keys[key] == nil {
			t.Errorf("%s is reloadable, and no key", key)
		}
	}
}

// Keys that need a restart stay as they were until then, and are named at each reload.
func TestGivenReload(t *testing.T) {
	running := Given{"listen": "a", "log.level": "info", "log.slow": "1s", "advertise": "x"}
	now := Given{"listen": "b", "log.level": "warn", "tls.cert": "c", "advertise": "x"}
	for _, want := range [][]string{{"log.level", "log.slow"}, {}} {
		inForce, reloaded, needRestart := running.Reload(now)
		if want := (Given{"listen": "a", "log.level": "warn", "advertise": "x"}); !maps.Equal(inForce, want) {
			t.Errorf("in force %v, want %v", inForce, want)
		}
		if want := []string{"listen", "tls.cert"}; !slices.Equal(needRestart, want) {
			t.Errorf("a restart for %v, want %v", needRestart, want)
		}
		if !slices.Equal(reloaded, want) {
			t.Errorf("reloaded %v, want %v", reloaded, want)
		}
		running = inForce
	}
}
