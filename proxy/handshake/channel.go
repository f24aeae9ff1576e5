package handshake

// Channel is who can read what is sent over a connection.
type Channel uint8

const (
	// Plain is a connection without TLS: whoever is between can.
	Plain Channel = iota
	// Encrypted is TLS with a server whose certificate nobody has verified: whoever took its place can.
	Encrypted
	// Verified is TLS with a server that was verified, or a socket of this machine: only the server can.
	Verified
)
