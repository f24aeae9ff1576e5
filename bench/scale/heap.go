package main

// kind says what an event is.
type kind uint8

const (
	holderWakes  kind = iota // who: a holder; the mark or the end of its segment is reached
	othersRefill             // who: a holder; row: a sequence of its class that is refilled like its own
	statementIn              // who: an attempt; its next statement reaches the server
	statementRun             // who: an attempt; the statement has been executed
	attemptEnds              // who: an attempt; it has had all the time there is
	lockEnds                 // who: an attempt; it has waited for a row's lock as long as it may
	poolLooks                // who: a seqgate; a refill that paused may try again
)

// event is something that happens at a time, in nanoseconds from the beginning.
type event struct {
	at       int64
	order    uint32 // those at the same time come in the order they were made
	gen      uint32 // events of an older generation of who do not count any more
	who, row int32
	kind     kind
}

// heap holds events, the earliest first. It is container/heap without interfaces: it is most of what a run does.
type heap struct {
	events []event
	pushed uint32
}

func (h *heap) isEmpty() bool { return len(h.events) == 0 }

func (h *heap) less(i, j int) bool {
	a, b := &h.events[i], &h.events[j]
	return a.at < b.at || a.at == b.at && int32(a.order-b.order) < 0
}

func (h *heap) push(e event) {
	h.pushed++
	e.order = h.pushed
	h.events = append(h.events, e)
	for i := len(h.events) - 1; i > 0; {
		parent := (i - 1) / 4
		if !h.less(i, parent) {
			return
		}
		h.events[i], h.events[parent] = h.events[parent], h.events[i]
		i = parent
	}
}

// pop returns the earliest event of h, which is not empty.
func (h *heap) pop() event {
	first, last := h.events[0], len(h.events)-1
	h.events[0] = h.events[last]
	h.events = h.events[:last]
	for i := 0; ; {
		least := i
		for child := 4*i + 1; child <= 4*i+4 && child < last; child++ {
			if h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return first
		}
		h.events[i], h.events[least] = h.events[least], h.events[i]
		i = least
	}
}
