package packagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const unitFile = "deploy/systemd/seqgate.service"

// setting is the last value of a key of the unit.
func setting(t *testing.T, key string) string {
	t.Helper()
	all := regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllStringSubmatch(readFile(t, unitFile), -1)
	if all == nil {
		t.Fatalf("%s has no %s", unitFile, key)
	}
	return all[len(all)-1][1]
}

// unitHere is the unit with the program of this test, and the sample as its configuration.
func unitHere(t *testing.T) string {
	t.Helper()
	path, err := seqgate()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(readFile(t, unitFile), "/usr/bin/seqgate", path)
	file := filepath.Join(t.TempDir(), "seqgate.service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestUnitIsAccepted(t *testing.T) {
	analyze := program(t, "systemd-analyze")
	out, err := exec.Command(analyze, "verify", "--man=no", unitHere(t)).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// systemd's own judgement of what the service may do stays at its best: exposure 2.0 of 10 at most.
func TestUnitIsHardened(t *testing.T) {
	analyze := program(t, "systemd-analyze")
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold=20", unitHere(t)).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// systemd waits for longer than seqgate takes to stop, by the defaults.
func TestUnitWaitsForDraining(t *testing.T) {
	stop, err := time.ParseDuration(setting(t, "TimeoutStopSec") + "s")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^drain_timeout: (\S+)$`).FindStringSubmatch(readFile(t, "internal/config/seqgate.yaml"))
	if found == nil {
		t.Fatal("the sample has no drain_timeout")
	}
	drain, err := time.ParseDuration(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if stop < drain+10*time.Second {
		t.Errorf("TimeoutStopSec is %v, drain_timeout %v: too close", stop, drain)
	}
}
