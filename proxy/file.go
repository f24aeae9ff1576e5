package proxy

import (
	"errors"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// forward sends the command at the front of the client's bytes to the backend
// as it came, of any length, and takes it.
func (x *relayer) forward() error {
	if err := x.Connected(); err != nil {
		_, takeErr := x.takeCommand()
		return errors.Join(takeErr, err)
	}
	for {
		length, _, err := x.front.Header()
		if err != nil {
			return &frontError{err}
		}
		if err := x.forwardPacket(wire.HeaderSize+length, x.WriteBack); err != nil {
			return errors.Join(errCommandCut, err)
		}
		if length < wire.MaxPayload {
			return nil
		}
	}
}

// forwardFile passes the client's local file to the backend, and waits for the
// answer.
func (x *relayer) forwardFile() error { return x.fileEnded(x.whileListening(x.passFile)) }

// whileListening has pass pass a file to the backend, and waits for the answer.
// The server is listened to all the while: what it says before it has the whole
// file (somebody killed its session, say) ends the file. silent tells why the
// server has not answered, nil when it has.
func (x *relayer) whileListening(pass func() error) (err, silent error) {
	defer x.LeaveUnnoticed()()
	answer := x.listen()
	err = pass()
	var lost *backend.LostError
	switch {
	case err == nil, errors.Is(err, wire.ErrInterrupted): // listen has heard something, or will
	case errors.As(err, &lost): // perhaps it has said why
		defer time.AfterFunc(wire.PendingErrorLimit, x.Wire.Halt).Stop()
	default:
		x.Wire.Halt()
	}
	silent = <-answer
	if err := errors.Join(x.front.Resume(), x.Wire.Resume()); err != nil {
		return &backend.LostError{Err: err}, err
	}
	return err, silent
}

// listen waits for the server to speak while something else goes on. Once it
// does, reading from the client and writing to the server are halted.
func (x *relayer) listen() <-chan error {
	heard := make(chan error, 1)
	go func() {
		err := x.Wire.Need(1)
		x.front.Halt()
		x.Wire.Halt() // it may read no more
		heard <- err
	}()
	return heard
}

// passFile passes packets on up to an empty one, which one of 2^24-1 bytes may
// make the rest of itself.
func (x *relayer) passFile() error {
	continued := false
	for want := x.Answer.Sequence + 1 + x.out.shift; ; want++ {
		length, sequence, err := x.front.Header()
		if err != nil {
			return &frontError{err}
		}
		if sequence != want {
			return &wire.OrderError{Want: want}
		}
		if err := x.forwardPacket(wire.HeaderSize+length, x.WriteFile); err != nil {
			return err
		}
		if length == 0 && !continued {
			return nil
		}
		continued = length == wire.MaxPayload
	}
}

// fileEnded goes on after the client's file, whose passing ended with err. silent
// tells why the server has not answered, nil when it has.
func (x *relayer) fileEnded(err, silent error) error {
	var order *wire.OrderError
	var front *frontError
	switch {
	case errors.As(err, &order):
		// Servers say it as the statement's answer, and once more since what is left
		// of the packet is no command.
		return errors.Join(&wire.OrderError{Want: 0}, x.replyOutOfOrder(order.Want))
	case errors.As(err, &front) && !errors.Is(err, wire.ErrInterrupted):
		return err
	case silent != nil:
		return errors.Join(errCommandCut, x.AnswerCut(silent))
	case err == nil:
		return nil
	}
	return errors.Join(&frontError{errors.New("the server answered before the end of the client's file")}, x.relayRest())
}
