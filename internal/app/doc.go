// Package app is the only wiring: it starts what the configuration names, reloads, drains and stops it.
package app
