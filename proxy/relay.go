package proxy

import "github.com/seqgate/seqgate/proxy/wire"

// relay passes the backend's answer on as it comes.
func (x *executor) relay(as wire.Shape) error {
	x.sent = true
	if x.owner.inTransactionWithout(x.serverConn) {
		return x.relayNumbered(as)
	}
	x.startAnswer(as)
	return x.relayRest()
}

// relayRest passes on what is left of an answer.
func (x *executor) relayRest() error {
	passed := 0
	for !x.answer.Done() {
		n := x.answer.Scan(x.back.Unread())
		if n > 0 {
			chunk := x.back.Unread()[:n]
			passed += n
			x.back.Bulk = passed > wire.SmallBuffer/2 // as this answer, so the next
			if err := x.writeFront(chunk); err != nil {
				return err
			}
			x.back.Skip(n)
			x.out.sequence = x.answer.Sequence + 1
		}
		switch {
		case x.answer.Malformed:
			return x.answerCut(errMalformedAnswer)
		case x.answer.InFile && x.answer.Skip == 0:
			x.answer.InFile = false
			if err := x.forwardFile(); err != nil {
				return err
			}
		case !x.answer.Done():
			if err := x.back.Fill(); err != nil {
				return x.answerCut(err)
			}
		}
	}
	if x.call.end != nil {
		x.endAnswer()
	}
	return nil
}
