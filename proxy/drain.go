package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/seqgate/seqgate/proxy/socket"
	"github.com/seqgate/seqgate/proxy/wire"
)

// How a seqgate stops without costing a client a statement. The protocol has no word
// with which a server asks a client to leave: it closes the connection, and a
// statement that is on its way then is lost. So a session is ended right behind the
// answer to a statement (leave.go), where a client that waits for it cannot have sent
// another command: answer, error 1053 and the end of the connection leave in one piece
// (the socket is corked), and a pool that looks at a connection before it uses it again
// finds it ended. Only sessions whose clients have said nothing for Config.Quiet are
// ended out of the blue.

// Retire has Ready report false from now on, for load balancers, and changes nothing
// else: clients are let in as before until Shutdown.
func (s *Server) Retire() { s.retired.Store(true) }

// Ready reports whether new clients should come: not before Serve lets them in.
func (s *Server) Ready() bool { return s.serving.Load() && !s.retired.Load() && !s.closing.Load() }

// Draining reports whether Shutdown has begun.
func (s *Server) Draining() bool { return s.draining.Load() }

// Shutdown stops accepting clients, ends idle sessions, lets statements and
// transactions under way come to their end, and waits for that until ctx is
// done; what is left then is cut off, and ctx's error returned.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.sweep.Wait()
	s.beginDrain(ctx)
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	if s.endQuietUntil(ctx, ended) {
		s.cancel()
		return s.release()
	}
	s.cancel()
	s.mu.Lock()
	for c, session := range s.sessions {
		_ = c.Close() // cut off
		if session != nil {
			session.cutOff()
		}
	}
	s.mu.Unlock()
	<-ended
	if err := s.release(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return ctx.Err()
}

// closeListeners returns once no client can connect any more. A listener is closed in the kernel only when nobody waits for
// a client of it: until then one whose session has ended would connect again, in vain.
// A wrapped listener may not wake; then it ends with ctx.
func (s *sessionList) closeListeners(ctx context.Context) {
	s.mu.Lock()
	s.closing.Store(true)
	listeners := s.listeners
	s.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close() // it accepts no more either way
	}
	closed := make(chan struct{})
	go func() {
		s.accepting.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}

// beginDrain closes the listeners, and looks at each session for the first time.
func (s *sessionList) beginDrain(ctx context.Context) {
	s.closeListeners(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining.Store(true)
	for c, session := range s.sessions {
		switch {
		case session == nil && s.settings().Quiet == 0: // it logs in: an error in the middle of that would be the library's own
			_ = c.Close()
		case session == nil: // it logs in, and may ask its first question
		case session.busy.Load() && s.settings().Quiet == 0: // it ends behind the answer under way
			_ = session.cork(true)
		case session.busy.Load():
		case s.settings().Quiet == 0, session.quiet.Add(1) > quietLooks:
			wire.Interrupt(c)
		}
	}
}

// quietLooks is how many looks, Config.Quiet apart, must find a session without a
// command between them before it is ended.
const quietLooks = 1

// endQuietUntil ends sessions that stay quiet, until all sessions have ended, or ctx
// is done: then it reports false.
func (s *sessionList) endQuietUntil(ctx context.Context, ended <-chan struct{}) bool {
	var look <-chan time.Time
	if s.settings().Quiet > 0 {
		ticker := time.NewTicker(s.settings().Quiet)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ended:
			return true
		case <-ctx.Done():
			return false
		case <-look:
			s.endQuiet()
		}
	}
}

// endQuiet wakes the sessions that have sent no command since the look before.
func (s *sessionList) endQuiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, session := range s.sessions {
		if session != nil && !session.busy.Load() && session.quiet.Add(1) > quietLooks {
			wire.Interrupt(c)
		}
	}
}

// release gives back what sessions have shared.
func (s *sessionList) release() error {
	err := s.hangups.Close()
	if s.ownGenerators != nil {
		err = errors.Join(err, s.ownGenerators.Close(context.Background())) // static worker ids: nobody has to be told
	}
	for _, p := range s.pools {
		err = errors.Join(err, p.Close())
	}
	return errors.Join(err, s.accounts.keep(nil))
}

// sayShutdown tells an idle client why its connection ends, and ends it towards the client.
func (c *clientConn) sayShutdown() error {
	c.out = sender{}
	_ = c.cork(true)
	_ = c.reply(wire.AppendError(nil, errShutdown())) // the client may be gone already
	closeWrite(c.front.Conn)
	return io.EOF
}

// closeWrite ends what is sent on a connection, in TLS and then beneath it.
func closeWrite(c net.Conn) {
	for {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the client may be gone already
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return
		}
		c = outer.NetConn()
	}
}

// cork holds back what does not fill a packet of the network, until it is taken back
// or the connection ends.
func (c *clientConn) cork(on bool) error {
	c.corked.Store(on)
	return socket.Cork(c.front.Conn, on)
}

// beforeCommand has the answer to the command that came leave together with what
// follows it.
func (c *clientConn) beforeCommand() {
	if c.srv.draining.Load() {
		_ = c.cork(true) // without it they leave one after the other
		c.holds = true
	}
}

// beforeWait has the answer leave, since nothing follows it.
func (c *clientConn) beforeWait() {
	c.holds = false
	if c.corked.Load() {
		_ = c.cork(false) // if it fails the kernel does so in 0.2 s
	}
}
