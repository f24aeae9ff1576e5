package backend

// Greeting is what a server said of itself before authentication
// (Protocol::HandshakeV10 of the MySQL manual), and its status after.
type Greeting struct {
	Version      string
	ThreadID     uint32
	Capabilities uint64 // MariaDB's extended ones in the upper half
	Charset      uint8
	Status       uint16
	AuthPlugin   string
}
