package proxy

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// patience bounds how long a wire waits for its peer within a command or an
// answer. Nothing bounds the wait for the next command, nor that for an answer's
// begin. Deadlines of reads stay set until they pass: to take each one back would
// cost as much again, and one that passes between commands wakes a session once.
type patience struct {
	readLimit, writeLimit time.Duration // 0: none

	inner       bool   // another wire reads through this one: deadlines are that one's
	atRest      bool   // what comes next may take as long as it likes to begin
	interrupted func() // is called when another goroutine has interrupted a read that goes on then

	readUntil, writeUntil time.Time
	halted                atomic.Bool
}

var (
	// errInterrupted ends the wait for a command, of which nothing was read, and what
	// was halted.
	errInterrupted = errors.New("interrupted")
	errReadTimeout = errors.New("the rest of a command did not come in time")
)

// lastWordsLimit is for bytes that have been sent before, most likely.
const lastWordsLimit = time.Second

// await waits for the next command, however long, and gives the length and number
// of its first packet. Interrupted before a byte of it has come, it gives
// errInterrupted.
func (w *wire) await() (length int, sequence byte, err error) {
	w.atRest = true
	length, sequence, err = w.header()
	w.atRest = false
	return length, sequence, err
}

// halt ends what another goroutine reads or writes, with errInterrupted, and what
// it begins to from now on.
func (w *wire) halt() {
	w.halted.Store(true)
	_ = w.Conn.SetDeadline(time.Unix(1, 0)) // it fails on a closed connection: then so does all that waits for it
}

// halting gives what a write that failed with err failed of.
func (w *wire) halting(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && w.halted.Load() {
		return errInterrupted
	}
	return err
}

// resume takes back a halt, when nobody reads or writes.
func (w *wire) resume() error {
	w.halted.Store(false)
	w.readUntil, w.writeUntil = time.Time{}, time.Time{}
	return w.SetDeadline(time.Time{})
}

// limitRead is called before a read that has to wait, most likely.
func (w *wire) limitRead() {
	if w.readLimit == 0 || w.atRest && w.w == w.r {
		return
	}
	w.readUntil = time.Now().Add(w.readLimit)
	_ = w.SetReadDeadline(w.readUntil) // it fails on a closed connection: then so does the read
	if w.halted.Load() {
		interrupt(w.Conn)
	}
}

// woken is called when a read's deadline has passed: it was set by limitRead, or
// by another goroutine to interrupt. The read goes on unless there is an error.
func (w *wire) woken() error {
	if w.halted.Load() {
		return errInterrupted
	}
	late := !w.readUntil.IsZero() && !time.Now().Before(w.readUntil)
	w.readUntil = time.Time{}
	if err := w.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	switch {
	case w.atRest && w.w == w.r:
		return errInterrupted
	case late:
		return errReadTimeout
	case w.interrupted != nil:
		w.interrupted()
	}
	return nil
}

// giveUpAt ends reads at that time, whatever has come.
func (w *wire) giveUpAt(at time.Time) {
	w.readUntil = at
	_ = w.SetReadDeadline(at) // as in limitRead
}

// limitWait is called when a socket takes no more for now.
func (w *wire) limitWait() {
	if w.writeLimit > 0 {
		w.writeUntil = time.Now().Add(w.writeLimit)
		_ = w.SetWriteDeadline(w.writeUntil) // as in limitRead
	}
	if w.halted.Load() {
		_ = w.SetWriteDeadline(time.Unix(1, 0))
	}
}

// writeEnded takes back what limitWait has set.
func (w *wire) writeEnded() error {
	if w.writeUntil.IsZero() {
		return nil
	}
	w.writeUntil = time.Time{}
	return w.SetWriteDeadline(time.Time{})
}

// limitWrite is called before a write of which it cannot be seen whether it will
// wait. The deadline is left to stand, and set anew when it comes too near.
func (w *wire) limitWrite() {
	if w.writeLimit == 0 {
		return
	}
	if now := time.Now(); w.writeUntil.Sub(now) < w.writeLimit {
		w.writeUntil = now.Add(w.writeLimit * 3 / 2)
		_ = w.SetWriteDeadline(w.writeUntil) // as in limitRead
	}
}

// clearDeadlines takes back all deadlines that stand.
func (w *wire) clearDeadlines() error {
	if w.readUntil.IsZero() && w.writeUntil.IsZero() {
		return nil
	}
	w.readUntil, w.writeUntil = time.Time{}, time.Time{}
	return w.SetDeadline(time.Time{})
}
