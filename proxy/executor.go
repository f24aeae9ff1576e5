package proxy

// executor runs a client's statements on one server and answers them. A session has one
// for its default keyspace, and in front of shards one for each that it works with: all
// of them answer on the same client's connection. What it is made of, each part knowing those before it: relayer,
// valueRunner, insertRunner, commandRunner, textRunner; executor itself runs the commands about prepared statements.
type executor struct{ textRunner }

// relayer passes commands on to the server and answers back to the client, and writes answers of seqgate's own.
type relayer struct {
	*clientConn
	*filler
}

// valueRunner answers NEXT VALUE, NEXTVAL(), LASTVAL() and SETVAL().
type valueRunner struct{ relayer }

// insertRunner runs INSERTs and LOAD DATA, filled or with ids of their own, and answers as a native AUTO_INCREMENT would.
type insertRunner struct{ valueRunner }

// commandRunner runs KILL, and the commands of the protocol that are no statements.
type commandRunner struct{ insertRunner }

// textRunner plans and runs texts, of one statement or several, SQL's PREPARE and EXECUTE among them.
type textRunner struct{ commandRunner }

func newExecutor(client *clientConn, server *serverConn) *executor {
	x := new(executor)
	x.clientConn, x.filler = client, new(filler)
	x.filler.serverConn = server
	return x
}
