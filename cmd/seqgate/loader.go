package main

import (
	"maps"
	"slices"
)

// loader reads configurations for what this binary was built with.
func loader(getenv func(string) string) Loader {
	return Loader{Getenv: getenv, WorkerStores: slices.Collect(maps.Keys(leaserKinds)), Tracing: openExporter != nil}
}
