// Package socket notices that a peer has closed its side of a connection, and holds back what is sent on one. What it cannot do
// outside of Linux it leaves out.
package socket
