package wire

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// deadlines bounds how long a wire waits for its peer within a command or an
// answer. Nothing bounds the wait for the next command, nor that for an answer's
// begin. Deadlines of reads stay set until they pass: to take each one back would
// cost as much again, and one that passes between commands wakes a session once.
type deadlines struct {
	ReadLimit, WriteLimit time.Duration // 0: none

	inner       bool   // another wire reads through this one: deadlines are that one's
	atRest      bool   // what comes next may take as long as it likes to begin
	Interrupted func() // is called when another goroutine has interrupted a read that goes on then

	readUntil, writeUntil time.Time
	Halted                atomic.Bool
}

var (
	// ErrInterrupted ends the wait for a command, of which nothing was read, and what
	// was halted.
	ErrInterrupted = errors.New("interrupted")
	errReadTimeout = errors.New("the rest of a command did not come in time")
)

// PendingErrorLimit is for bytes that have been sent before, most likely.
const PendingErrorLimit = time.Second

// Await waits for the next command, however long, and gives the length and number
// of its first packet. Interrupted before a byte of it has come, it gives
// ErrInterrupted.
func (w *Conn) Await() (length int, sequence byte, err error) {
	w.atRest = true
	length, sequence, err = w.Header()
	w.atRest = false
	return length, sequence, err
}

// Halt ends what another goroutine reads or writes, with ErrInterrupted, and what
// it begins to from now on.
func (w *Conn) Halt() {
	w.Halted.Store(true)
	_ = w.Conn.SetDeadline(time.Unix(1, 0)) // it fails on a closed connection: then so does all that waits for it
}

// halting returns what a write that failed with err failed of.
func (w *Conn) halting(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && w.Halted.Load() {
		return ErrInterrupted
	}
	return err
}

// Resume takes back a halt, when nobody reads or writes.
func (w *Conn) Resume() error {
	w.Halted.Store(false)
	w.readUntil, w.writeUntil = time.Time{}, time.Time{}
	return w.SetDeadline(time.Time{})
}

// limitRead is called before a read that has to wait, most likely.
func (w *Conn) limitRead() {
	if w.ReadLimit == 0 || w.atRest && w.w == w.r {
		return
	}
	w.readUntil = time.Now().Add(w.ReadLimit)
	_ = w.SetReadDeadline(w.readUntil) // it fails on a closed connection: then so does the read
	if w.Halted.Load() {
		Interrupt(w.Conn)
	}
}

// woken is called when a read's deadline has passed: it was set by limitRead, or
// by another goroutine to interrupt. The read goes on unless there is an error.
func (w *Conn) woken() error {
	if w.Halted.Load() {
		return ErrInterrupted
	}
	late := !w.readUntil.IsZero() && !time.Now().Before(w.readUntil)
	w.readUntil = time.Time{}
	if err := w.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	switch {
	case w.atRest && w.w == w.r:
		return ErrInterrupted
	case late:
		return errReadTimeout
	case w.Interrupted != nil:
		w.Interrupted()
	}
	return nil
}

// GiveUpAt ends reads at that time, whatever has come.
func (w *Conn) GiveUpAt(at time.Time) {
	w.readUntil = at
	_ = w.SetReadDeadline(at) // as in limitRead
}

// limitWait is called when a socket takes no more for now.
func (w *Conn) limitWait() {
	if w.WriteLimit > 0 {
		w.writeUntil = time.Now().Add(w.WriteLimit)
		_ = w.SetWriteDeadline(w.writeUntil) // as in limitRead
	}
	if w.Halted.Load() {
		_ = w.SetWriteDeadline(time.Unix(1, 0))
	}
}

// writeEnded takes back what limitWait has set.
func (w *Conn) writeEnded() error {
	if w.writeUntil.IsZero() {
		return nil
	}
	w.writeUntil = time.Time{}
	return w.SetWriteDeadline(time.Time{})
}

// limitWrite is called before a write of which it cannot be seen whether it will
// wait. The deadline is left to stand, and set anew when it comes too near.
func (w *Conn) limitWrite() {
	if w.WriteLimit == 0 {
		return
	}
	if now := time.Now(); w.writeUntil.Sub(now) < w.WriteLimit {
		w.writeUntil = now.Add(w.WriteLimit * 3 / 2)
		_ = w.SetWriteDeadline(w.writeUntil) // as in limitRead
	}
}

// ClearDeadlines takes back all deadlines that stand.
func (w *Conn) ClearDeadlines() error {
	if w.readUntil.IsZero() && w.writeUntil.IsZero() {
		return nil
	}
	w.readUntil, w.writeUntil = time.Time{}, time.Time{}
	return w.SetDeadline(time.Time{})
}

// HasBuffered reads what TLS and compression hold, without waiting for more, and reports
// whether there is any.
func (w *Conn) HasBuffered() bool {
	if w.raw != nil {
		return false // bytes come straight from the socket
	}
	if c, ok := w.Conn.(*Compressed); ok && c.hasBegun() {
		return true
	}
	Interrupt(w.Conn)
	w.atRest = true
	err := w.Fill()
	w.atRest = false
	if err == nil {
		w.readUntil = time.Time{}
		err = w.SetReadDeadline(time.Time{}) // if it fails, so does the next read
	}
	return err == nil && len(w.Unread()) > 0
}

// Interrupt wakes whoever reads from c, now or when it will.
func Interrupt(c net.Conn) { _ = c.SetReadDeadline(time.Unix(1, 0)) }
