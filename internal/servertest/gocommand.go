package servertest

import (
	"os"
	"os/exec"
)

// GoCommand returns a go command for a test that builds seqgate. It has the flags of `make build`: the program tested is
// the one that is shipped, and what was compiled for one serves the other.
func GoCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
	return cmd
}
