package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// relayCommand makes this program a relay: `bench relay ADDR`. The relay is a process of its own so
// that its CPU time and memory can be told from the client's.
const relayCommand = "relay"

// relay listens on a free port of 127.0.0.1, writes its address to stdout, and copies bytes between
// each connection and one of its own to upstream, until stdin ends: with the process that started it.
func relay(upstream string, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	served := make(chan error, 1)
	go func() { served <- accept(listener, upstream) }()
	_, err = io.Copy(io.Discard, stdin)
	return errors.Join(err, listener.Close(), <-served)
}

// accept serves connections until the listener is closed. Connections that are open then end with
// the process.
func accept(listener net.Listener, upstream string) error {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go relayConn(client.(*net.TCPConn), upstream)
	}
}

// relayConn copies in both directions until both have ended. On Linux io.Copy between two TCPConns
// moves the bytes inside the kernel (splice).
func relayConn(client *net.TCPConn, upstream string) {
	defer client.Close()
	conn, err := net.Dial("tcp", upstream)
	if err != nil {
		return // the client sees its connection end
	}
	defer conn.Close()
	server := conn.(*net.TCPConn)
	var other sync.WaitGroup
	other.Go(func() { copyHalf(server, client) })
	copyHalf(client, server)
	other.Wait()
}

// copyHalf copies one direction and passes its end on. Errors end the connection like an end does.
func copyHalf(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from)
	_ = to.CloseWrite()
}
