// Package threads lists the connections of a server, which calls them threads, and ends one, or what runs on it.
package threads
