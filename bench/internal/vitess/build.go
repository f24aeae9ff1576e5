package vitess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Version is the version of Vitess.
const Version = "v0.22.1"

// module is one of its own: Vitess is no dependency of seqgate.
const module = "module vtcombo\n\ngo 1.24\n\nrequire vitess.io/vitess " + Version + "\n"

// buildFlags: Vitess asks for Swiss maps by the name of an experiment that later versions of Go do not have any more, and
// uses names of the runtime that the linker of Go 1.23 and later hides.
var buildFlags = []string{"-mod=mod", "-tags=goexperiment.swissmap", "-ldflags=-checklinkname=0"}

// Build returns the path of vtcombo, built by the same command and version of Go as seqgate (1.24.4 or later). It lies in the
// user's cache directory: the first build downloads some hundred modules and takes minutes. The error is an [ErrUnavailable] with the
// compiler's last words.
func Build(ctx context.Context, log io.Writer) (path string, err error) {
	path, err = binaryPath()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cache := filepath.Dir(path)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	if log != nil {
		fmt.Fprintln(log, "building vtcombo of Vitess", Version, "into", path)
	}
	dir, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		return "", err
	}
	const binary = "vtcombo"
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, buildFlags...), "-o", binary, "vitess.io/vitess/go/cmd/vtcombo")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: build vtcombo: %w\n%s", ErrUnavailable, err, tail(out))
	}
	return path, os.Rename(filepath.Join(dir, binary), path) // whole or not at all
}

func binaryPath() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "seqgate-bench", "vtcombo-"+Version+"-"+runtime.Version()), err
}
