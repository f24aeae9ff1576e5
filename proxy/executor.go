package proxy

import (
	"context"
	"log/slog"
)

// executor runs a client's statements on one server and answers them. A session has one
// for its default keyspace, and in front of shards one for each that it works with: all
// of them answer on the same client's connection.
type executor struct {
	*clientConn
	*filler

	srv   *Server
	ctx   context.Context // ends when the server is closed for good
	log   *slog.Logger
	trace *tracing // nil: nobody is told
}

func newExecutor(client *clientConn, server *serverConn) *executor {
	return &executor{clientConn: client, filler: &filler{serverConn: server}, srv: client.srv, ctx: client.ctx, log: client.log, trace: client.trace}
}
