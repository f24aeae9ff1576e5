// Package meter counts what the sessions of a server do, so that counting costs them a few nanoseconds: each session counts
// in one of several [Stripe]s, which are added up when somebody reads them.
package meter
