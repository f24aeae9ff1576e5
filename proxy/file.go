package proxy

import (
	"errors"
	"time"
)

// forward sends the command at the front of the client's bytes to the backend
// as it came, of any length, and takes it.
func (s *session) forward() error {
	if err := s.connected(); err != nil {
		_, takeErr := s.takeCommand()
		return errors.Join(takeErr, err)
	}
	for {
		length, _, err := s.front.header()
		if err != nil {
			return &frontError{err}
		}
		if err := s.forwardPacket(headerSize+length, s.writeBack); err != nil {
			return errors.Join(errCommandCut, err)
		}
		if length < maxPayload {
			return nil
		}
	}
}

// forwardPacket passes the client's next packet on, whose header says that it
// has left bytes with that header.
func (c *clientConn) forwardPacket(left int, write func([]byte) error) error {
	c.out.sequence = c.front.unread()[headerSize-1] + 1
	c.front.unread()[headerSize-1] -= c.out.shift
	for left > 0 {
		if len(c.front.unread()) == 0 {
			if err := c.front.fill(); err != nil {
				return &frontError{err}
			}
		}
		n := min(left, len(c.front.unread()))
		if err := write(c.front.unread()[:n]); err != nil {
			return err
		}
		c.front.skip(n)
		left -= n
	}
	return nil
}

// forwardFile passes the client's local file to the backend, and waits for the
// answer.
func (s *session) forwardFile() error { return s.fileEnded(s.whileListening(s.passFile)) }

// whileListening has pass pass a file to the backend, and waits for the answer.
// The server is listened to all the while: what it says before it has the whole
// file (somebody killed its session, say) ends the file. silent tells why the
// server has not answered, nil when it has.
func (s *session) whileListening(pass func() error) (err, silent error) {
	defer s.leaveUnnoticed()()
	answer := s.listen()
	err = pass()
	var lost *backendError
	switch {
	case err == nil, errors.Is(err, errInterrupted): // listen has heard something, or will
	case errors.As(err, &lost): // perhaps it has said why
		defer time.AfterFunc(lastWordsLimit, s.back.halt).Stop()
	default:
		s.back.halt()
	}
	silent = <-answer
	if err := errors.Join(s.front.resume(), s.back.resume()); err != nil {
		return &backendError{err}, err
	}
	return err, silent
}

// leaveUnnoticed has the session look for its client's end itself, until the
// returned function is called.
func (c *serverConn) leaveUnnoticed() (end func()) {
	noticed := c.back.interrupted
	c.back.interrupted = nil
	return func() { c.back.interrupted = noticed }
}

// listen waits for the server to speak while something else goes on. Once it
// does, reading from the client and writing to the server are halted.
func (s *session) listen() <-chan error {
	heard := make(chan error, 1)
	go func() {
		err := s.back.need(1)
		s.front.halt()
		s.back.halt() // it may read no more
		heard <- err
	}()
	return heard
}

// passFile passes packets on up to an empty one, which one of 2^24-1 bytes may
// make the rest of itself.
func (s *session) passFile() error {
	continued := false
	for want := s.answer.sequence + 1 + s.out.shift; ; want++ {
		length, sequence, err := s.front.header()
		if err != nil {
			return &frontError{err}
		}
		if sequence != want {
			return &orderError{want}
		}
		if err := s.forwardPacket(headerSize+length, s.writeFile); err != nil {
			return err
		}
		if length == 0 && !continued {
			return nil
		}
		continued = length == maxPayload
	}
}

func (c *serverConn) writeFile(b []byte) error {
	if _, err := c.back.Write(b); err != nil {
		return &backendError{err}
	}
	return nil
}

// fileEnded goes on after the client's file, whose passing ended with err. silent
// tells why the server has not answered, nil when it has.
func (s *session) fileEnded(err, silent error) error {
	var order *orderError
	var front *frontError
	switch {
	case errors.As(err, &order):
		// Servers say it as the statement's answer, and once more since what is left
		// of the packet is no command.
		return errors.Join(&orderError{want: 0}, s.replyOutOfOrder(order.want))
	case errors.As(err, &front) && !errors.Is(err, errInterrupted):
		return err
	case silent != nil:
		return errors.Join(errCommandCut, s.answerCut(silent))
	case err == nil:
		return nil
	}
	return errors.Join(&frontError{errors.New("the server answered before the end of the client's file")}, s.relayRest())
}
