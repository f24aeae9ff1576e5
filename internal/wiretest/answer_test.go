package wiretest

import "encoding/binary"

// shape says what an answer looks like, which is to say where it ends. The packets of an answer are read without
// judging them: what is wrong with them shows in the comparison.
type shape int

const (
	silent   shape = iota // no answer
	one                   // one packet
	results               // OK, ERR, a request for a file, or result sets
	opened                // the same, or the definitions of a cursor
	fetched               // rows of a cursor
	prepared              // COM_STMT_PREPARE's answer
	fields                // column definitions up to an EOF
	rights                // COM_CHANGE_USER's: authentication
	hangup                // whatever comes until the peer closes the connection
)

// reader reads one answer.
type reader struct {
	c       *client
	step    step
	cursor  bool // one was asked for
	packets []packet
}

// readAnswer reads an answer of the given shape; err tells how the connection ended in it.
func (c *client) readAnswer(s step, sh shape) ([]packet, error) {
	r := &reader{c: c, step: s}
	var err error
	switch sh {
	case one:
		_, err = r.next()
	case results, opened:
		r.cursor = sh == opened
		err = r.results()
	case fetched:
		_, err = r.rows()
	case prepared:
		err = r.prepared()
	case fields:
		err = r.fields()
	case rights:
		var p packet
		p, err = c.authenticate(s.password)
		r.packets = append(r.packets, packet{payload: p.payload}) // the exchange before has no fixed length
	case hangup:
		for err == nil {
			_, err = r.next()
		}
	}
	return r.packets, err
}

// checkOK reads an OK packet strictly.
func (r *reader) checkOK(b []byte) {
	if err := CheckOK(b, r.c.flags); err != nil && r.c.has(protocol41) {
		r.c.malformed = err
	}
}

// next reads a packet and what continues it, and gives the first one's payload.
func (r *reader) next() ([]byte, error) {
	p, err := r.c.next()
	if err != nil {
		return nil, err
	}
	r.packets = append(r.packets, p)
	for last := p; len(last.payload) == maxPayload; {
		if last, err = r.c.next(); err != nil {
			return nil, err
		}
		r.packets = append(r.packets, last)
	}
	return p.payload, nil
}

func (r *reader) results() error {
	for more := true; more; {
		b, err := r.next()
		if err != nil {
			return err
		}
		switch first(b) {
		case 0x00:
			r.checkOK(b)
			more = okStatus(b)&statusMoreResults != 0
		case 0xff:
			if !r.isProgress(b) {
				return nil
			}
		case 0xfb:
			if err := r.sendFile(); err != nil {
				return err
			}
		default:
			if more, err = r.resultSet(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// resultSet reads what follows a number of columns, and reports whether more results follow.
func (r *reader) resultSet(head []byte) (more bool, err error) {
	columns, size := lengthEncoded(head)
	if r.c.has(optionalMetadata|cacheMetadata) && len(head) > size && head[size] == 0 {
		columns = 0 // the client knows them, or does not want to
	}
	for range columns {
		if _, err := r.next(); err != nil {
			return false, err
		}
	}
	outParams := false
	if !r.c.has(deprecateEOF) {
		b, err := r.next()
		if err != nil {
			return false, err
		}
		if first(b) == 0xff { // the statement failed before its first row
			return false, nil
		}
		if first(b) == 0x00 { // MySQL, of a statement whose cursor is open still
			return okStatus(b)&statusMoreResults != 0, nil
		}
		status := eofStatus(b)
		if r.cursor && status&statusCursorExists != 0 {
			return false, nil
		}
		// MySQL tells of OUT parameters here, and not at the end of the rows, that an OK follows.
		outParams = status&statusOutParams != 0 && status&statusMoreResults != 0
	}
	status, err := r.rows()
	return outParams || status&statusMoreResults != 0, err
}

// rows reads rows and their end, whose status is returned: 0 for an error.
func (r *reader) rows() (status uint16, err error) {
	for {
		b, err := r.next()
		switch {
		case err != nil:
			return 0, err
		case r.isProgress(b):
		case first(b) == 0xff:
			return 0, nil
		case first(b) != 0xfe:
		case r.c.has(deprecateEOF) && len(b) < maxPayload:
			r.checkOK(b)
			return okStatus(b), nil
		case !r.c.has(deprecateEOF) && len(b) < 9:
			return eofStatus(b), nil
		}
	}
}

// isProgress tells MariaDB's reports of progress, which end nothing, from errors.
func (r *reader) isProgress(b []byte) bool {
	return r.c.has(progress) && len(b) > 3 && b[0] == 0xff && b[1] == 0xff && b[2] == 0xff && b[3] != '#'
}

func (r *reader) prepared() error {
	b, err := r.next()
	if err != nil || first(b) != 0 || len(b) < 9 {
		return err
	}
	r.c.stmts = append(r.c.stmts, binary.LittleEndian.Uint32(b[1:]))
	clear(b[1:5]) // it is not compared
	left := 0
	definitions := !r.c.has(optionalMetadata) || len(b) > 12 && b[12] != 0
	for _, at := range []int{5, 7} { // columns, parameters
		n := int(binary.LittleEndian.Uint16(b[at:]))
		if definitions {
			left += n
		}
		if n > 0 && !r.c.has(deprecateEOF) {
			left++
		}
	}
	for range left {
		if _, err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) fields() error {
	for {
		b, err := r.next()
		if err != nil || first(b) == 0xff || first(b) == 0xfe {
			return err
		}
	}
}

// sendFile answers a request for a local file with the step's packets and an empty one, or breaks off before that. The
// server may have stopped listening: then what it said is read.
func (r *reader) sendFile() error {
	sequence := r.packets[len(r.packets)-1].sequence + 1
	for _, content := range r.step.file {
		if _, err := r.c.Write(frame(sequence, content)); err != nil {
			return nil
		}
		sequence += byte(len(content)/maxPayload + 1)
	}
	if r.step.breakOff {
		return r.c.Close()
	}
	_, _ = r.c.Write(frame(sequence, nil))
	return nil
}

// okStatus gives the status of an OK packet, also of one that stands for EOF.
func okStatus(b []byte) uint16 {
	b = b[1:]
	for range 2 { // affected rows, insert id
		_, size := lengthEncoded(b)
		b = b[size:]
	}
	if len(b) < 2 {
		return 0
	}
	return binary.LittleEndian.Uint16(b)
}

func eofStatus(b []byte) uint16 {
	if len(b) < 5 {
		return 0
	}
	return binary.LittleEndian.Uint16(b[3:])
}
