// Package backend reaches the MySQL servers behind seqgate: it dials them with
// exactly what a client negotiated, so that packets fit both ways without
// translation, and remembers what each server announces of itself.
package backend
