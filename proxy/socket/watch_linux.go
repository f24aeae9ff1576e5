package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/seqgate/seqgate/proxy/backend"
	"golang.org/x/sys/unix"
)

// Watcher tells of peers that close their side of a connection, as it happens
// and whether or not anybody reads from it. It is one epoll instance and one
// goroutine for all of a server's connections. What peers send wakes it not.
type Watcher struct {
	epoll *os.File
	raw   syscall.RawConn
	ended chan struct{} // closed when the goroutine has
	err   error         // that ended it

	mu   sync.Mutex
	last uint64            // id that a watched connection got
	gone map[uint64]func() // by id; not by descriptor, which is another connection's after a close
}

func NewWatcher() (*Watcher, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	// The runtime waits for this descriptor as for any other: no thread is held.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("watch connections: %w", err), unix.Close(fd))
	}
	h := &Watcher{epoll: os.NewFile(uintptr(fd), "epoll"), ended: make(chan struct{}), gone: make(map[uint64]func())}
	if h.raw, err = h.epoll.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch connections: %w", err), h.epoll.Close())
	}
	go h.run()
	return h, nil
}

// Close ends the watching of all connections. It may be called again.
func (h *Watcher) Close() error {
	err := h.epoll.Close()
	<-h.ended
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, h.err)
}

// Watch calls gone, once, from the watcher's goroutine, when the peer has closed
// its sending side or the connection has failed; at once, when it had before.
// stop ends that: after it returned, gone is not called any more. gone must
// neither wait nor call stop. A connection with no socket of its own underneath is
// not watched.
func (h *Watcher) Watch(c net.Conn, gone func()) (stop func(), err error) {
	raw := backend.SocketOf(c)
	if raw == nil {
		return func() {}, nil
	}
	h.mu.Lock()
	h.last++
	id := h.last
	h.gone[id] = gone
	h.mu.Unlock()
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(id), Pad: int32(id >> 32)}
	if err := h.control(raw, unix.EPOLL_CTL_ADD, &event); err != nil {
		h.forget(id)
		return nil, fmt.Errorf("watch a connection: %w", err)
	}
	return func() {
		h.forget(id)
		_ = h.control(raw, unix.EPOLL_CTL_DEL, nil) // a descriptor that is closed is out already
	}, nil
}

func (h *Watcher) control(raw syscall.RawConn, op int, event *unix.EpollEvent) error {
	return onDescriptor(h.raw, func(epoll int) error {
		return onDescriptor(raw, func(fd int) error { return unix.EpollCtl(epoll, op, fd, event) })
	})
}

// onDescriptor calls f with a descriptor that stays open meanwhile.
func onDescriptor(raw syscall.RawConn, f func(fd int) error) (err error) {
	if closed := raw.Control(func(fd uintptr) { err = f(int(fd)) }); closed != nil {
		return closed
	}
	return err
}

func (h *Watcher) forget(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.gone, id)
}

func (h *Watcher) run() {
	defer close(h.ended)
	var events [64]unix.EpollEvent
	var n int
	poll := func(fd uintptr) bool {
		for {
			n, h.err = unix.EpollWait(int(fd), events[:], 0)
			if h.err != unix.EINTR {
				return n != 0
			}
		}
	}
	for h.raw.Read(poll) == nil && h.err == nil {
		h.tell(events[:n])
	}
}

// tell calls gone for what has happened. It does so with the lock held, for
// which stop waits.
func (h *Watcher) tell(events []unix.EpollEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		id := uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32
		if gone := h.gone[id]; gone != nil {
			delete(h.gone, id)
			gone()
		}
	}
}
