package wire

// A payload of 16 MiB and more comes in several packets. It is held once.

// pieceSize is how a long payload is read: memory grows with what has come, and no
// piece is ever moved to a larger one.
const pieceSize = 1 << 20

// TakeLong reads a payload that is continued over several packets, and takes it.
// Until it returns that costs twice the payload.
func (w *Conn) TakeLong(limit int) (payload []byte, sequence byte, err error) {
	var pieces [][]byte
	total := 0
	for length := MaxPayload; length == MaxPayload; total += length {
		want := sequence + 1
		if length, sequence, err = w.Header(); err != nil {
			return nil, 0, err
		}
		switch {
		case total > 0 && sequence != want:
			return nil, 0, &OrderError{Want: want}
		case total+length > limit:
			return nil, 0, ErrTooLarge
		}
		w.Skip(HeaderSize)
		if pieces, err = w.takePieces(pieces, length); err != nil {
			return nil, 0, err
		}
	}
	payload = make([]byte, 0, total)
	for i, piece := range pieces {
		payload = append(payload, piece...)
		pieces[i] = nil
	}
	return payload, sequence, nil
}

// takePieces reads n bytes, behind those in pieces, and takes them.
func (w *Conn) takePieces(pieces [][]byte, n int) ([][]byte, error) {
	for n > 0 {
		if err := w.Need(1); err != nil {
			return nil, err
		}
		last := len(pieces) - 1
		if last < 0 || len(pieces[last]) == pieceSize {
			pieces = append(pieces, make([]byte, 0, pieceSize))
			last++
		}
		came := w.Unread()
		came = came[:min(len(came), n, pieceSize-len(pieces[last]))]
		pieces[last] = append(pieces[last], came...)
		n -= len(came)
		w.Skip(len(came))
	}
	return pieces, nil
}
