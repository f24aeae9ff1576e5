package app

import (
	"runtime/debug"
)

// Release is the version of a package, which its builder gives: see main.
var Release string

// Version is the release's, or the module's version as the Go tool recorded it,
// or the commit it was built from.
func Version() string {
	if Release != "" {
		return Release
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
