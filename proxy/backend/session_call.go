package backend

// Call is a command that the server runs, or several that are sent at once, as they are told of. The zero value is that of
// none.
type Call struct {
	End      func(rows uint64, code uint16, err error)
	rows     uint64 // that the answers had when it began
	Ahead    int    // how many answers come before that to the latest command
	answered bool   // an answer is being read, or was
}

// beginCall begins the call of a command that is about to be sent to the server, for a statement.
func (c *Session) beginCall() {
	if c.Call.End != nil && !c.Call.answered {
		return // a part of the same command
	}
	if c.Call.End != nil {
		c.EndCall(nil)
	}
	c.Call = Call{End: c.Host.BeginCall(), rows: c.Answer.Rows}
}

// EndAnswer notes that an answer has come.
func (c *Session) EndAnswer() {
	if c.Call.Ahead > 0 {
		c.Call.Ahead--
		return
	}
	c.EndCall(nil)
}

// EndCall ends the call of the server. err is why there is no answer, if so.
func (c *Session) EndCall(err error) {
	ended := c.Call
	c.Call = Call{}
	var code uint16
	if ended.answered && c.Answer.Failed {
		code = c.Answer.Code
	}
	ended.End(c.Answer.Rows-min(ended.rows, c.Answer.Rows), code, err)
}
