package main

import (
	"errors"
	"net"
	"testing"
	"time"
)

// Of more connections than there may be the last ones are closed, and one that ends makes room.
func TestLimitListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if limitListener(inner, 0) != inner {
		t.Error("no limit is one")
	}
	const most = 3
	l := limitListener(inner, most)
	accepted, ended := make(chan net.Conn, 10), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	var held []net.Conn
	for range most {
		dial()
		held = append(held, <-accepted)
	}
	beyond := dial()
	if err := beyond.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := beyond.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("one too many is not closed: %v", err)
	}
	for range 2 { // closed again, as http.Server may: that makes no room for another one
		_ = held[0].Close()
	}
	dial()
	held[0] = <-accepted
	for _, c := range held {
		_ = c.Close()
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if len(accepted) > 0 {
		t.Error("more were accepted than there may be")
	}
}
