package main

import (
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
