package admin

import (
	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
)

var (
	connections      = gauge("connections", "Clients that are connected, by whether they have logged in (session, login).", "state")
	connectionsLimit = gauge("connections_limit", "The most clients at once; 0: any number.")
	accepted         = counter("connections_accepted_total", "Clients that have connected.")
	refused          = counter("connections_refused_total", "Clients that were not let in, by reason.", "reason")
	pinned           = gauge("sessions_pinned", "Sessions whose connection to the server will be no other client's after them.")
	queries          = counter("queries_total", "Commands that were answered, by kind and result (ok, error). A text of several statements is one.", "kind", "result")
	queryDuration    = histogram("query_duration_seconds", "How long commands took, from their first byte until the answer was sent.", "kind")
	queryErrors      = counter("query_errors_total", "Commands that were answered with an error, by a class of error numbers.", "class")
	routed           = counter("statements_routed_total", "Statements in front of sharded keyspaces, by where they ran: on one server (single), on several (scatter), on none (local).", "route")
	clientReceived   = counter("client_received_bytes_total", "Bytes from clients, decrypted and decompressed.")
	clientSent       = counter("client_sent_bytes_total", "Bytes to clients, before encryption and compression.")

	clientMetrics = []*metric{connections, connectionsLimit, accepted, refused, pinned, queries, queryDuration, queryErrors, routed,
		clientReceived, clientSent}
)

// clients tells of connections and what came over them.
func clients(s sink, t meter.Snapshot) {
	s.put(connections, float64(t.Sessions), "session")
	s.put(connections, float64(t.LoggingIn), "login")
	s.put(connectionsLimit, float64(t.Limit))
	s.put(accepted, float64(t.Accepted))
	for _, r := range meter.Refusals() {
		s.put(refused, float64(t.Refused[r]), r.String())
	}
	s.put(pinned, float64(t.Pinned))
	for _, k := range meter.Kinds() {
		q := t.Queries[k]
		s.put(queries, float64(q.OK), k.String(), "ok")
		s.put(queries, float64(q.Failed), k.String(), "error")
		s.putAll(queryDuration, q.Took, k.String())
	}
	for _, c := range meter.Classes() {
		s.put(queryErrors, float64(t.Errors[c]), c.String())
	}
	for _, r := range meter.Routes() {
		s.put(routed, float64(t.Routes[r]), r.String())
	}
	s.put(clientReceived, float64(t.In))
	s.put(clientSent, float64(t.Out))
}

var (
	backendQueries     = counter("backend_queries_total", "Commands that were sent to a server.", "keyspace", "shard")
	backendReceived    = counter("backend_received_bytes_total", "Bytes from a server, decrypted.", "keyspace", "shard")
	backendSent        = counter("backend_sent_bytes_total", "Bytes to a server, before encryption.", "keyspace", "shard")
	backendConnections = gauge("backend_connections", "Sessions' connections to a server: in use (busy), or waiting for a session (idle). Those of seqgate's own are not among them.", "keyspace", "shard", "state")

	serverUp       = gauge("server_up", "1 if a server answered when it was asked last, also if it is read-only, else 0.", "keyspace", "shard")
	serverReadOnly = gauge("server_read_only", "1 if a server said that it is read-only, else 0.", "keyspace", "shard")
	serverLatency  = gauge("server_check_seconds", "How long a server took to answer when it did last.", "keyspace", "shard")

	serverPaused  = gauge("server_paused", "1 while statements wait for a shard since seqgate shard pause, else 0.", "keyspace", "shard")
	serverWaiting = gauge("server_waiting", "Statements and logins that wait until a shard is resumed.", "keyspace", "shard")

	backendMetrics = []*metric{backendQueries, backendReceived, backendSent, backendConnections, serverPaused, serverWaiting, serverUp, serverReadOnly, serverLatency}
)

// servers tells how each server stands.
func servers(s sink, all []health.Status) {
	for _, h := range all {
		s.put(serverUp, truth(h.State == health.Up || h.State == health.ReadOnly), h.Keyspace, h.Shard)
		s.put(serverReadOnly, truth(h.State == health.ReadOnly), h.Keyspace, h.Shard)
		s.put(serverLatency, h.Latency.Seconds(), h.Keyspace, h.Shard)
	}
}

// backends tells of each server; the configuration bounds how many there are.
func backends(s sink, t meter.Snapshot) {
	for _, b := range t.Backends {
		s.put(backendQueries, float64(b.Queries), b.Keyspace, b.Shard)
		s.put(backendReceived, float64(b.In), b.Keyspace, b.Shard)
		s.put(backendSent, float64(b.Out), b.Keyspace, b.Shard)
		s.put(backendConnections, float64(b.Busy), b.Keyspace, b.Shard, "busy")
		s.put(backendConnections, float64(b.Idle), b.Keyspace, b.Shard, "idle")
		s.put(serverPaused, truth(!b.Paused.IsZero()), b.Keyspace, b.Shard)
		s.put(serverWaiting, float64(b.Waiting), b.Keyspace, b.Shard)
	}
}
