package app

import (
	"maps"
	"slices"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/generators"
)

// Loader reads configurations for what this binary was built with.
func Loader(getenv func(string) string) config.Loader {
	return config.Loader{Getenv: getenv, WorkerStores: slices.Collect(maps.Keys(generators.LeaserKinds)), Tracing: openExporter != nil}
}
