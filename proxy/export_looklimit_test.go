package proxy

import "time"

// A slow machine may take longer to look into a table than a client is let wait for it.
func init() { lookLimit = 5 * time.Second }
