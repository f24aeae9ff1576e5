// Package ops is what operators do to sequences and their tables: check them against the configuration, make and raise
// them, import them from other systems, set and move them by hand. It knows neither flags nor exit codes, but for which
// errors are those of a wrong call (UsageError).
package ops
