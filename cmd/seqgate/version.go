package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
)

// release is the version that who builds gives: -ldflags "-X main.release=v1.2.3". Packages do, whose sources come
// without the repository.
var release string

// version is the release's, or the module's version as the Go tool recorded it,
// or the commit it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel " + s.Value
		}
	}
	return "devel"
}

// runVersion is `seqgate version`.
func runVersion(_ context.Context, args []string, stdout, _ io.Writer) error {
	if err := parseOnly(newFlags("version", "", "Prints the version.", stdout), args); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, "seqgate", version())
	return err
}
