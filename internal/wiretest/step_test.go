package wiretest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// wireCase is what some clients do, one step after the other.
type wireCase struct {
	name     string
	only     string // the server that it is for: "mariadb" or "mysql"; "" for both
	login    login  // of the first client
	accounts bool   // it is about more accounts than one, about no database, or about what a connection has counted
	sees     bool   // the first client's greeting and login are compared too
	steps    []step
	patience time.Duration // for each answer; 0 for defaultPatience
}

// step is one thing that a client does. It is traced under its label.
//
// In texts {db} stands for the case's database, {table} for the name of a table of its own, {id:b} for the connection id
// in client b's greeting, and {cid:b} for what b's server calls CONNECTION_ID(), after a learnID step.
type step struct {
	label    string
	client   string // whose it is: "" for the first, else the name of a connect step
	act      func(r *run, c *client) error
	send     func(r *run, c *client) []byte // what is written, headers included
	answers  []shape
	file     [][]byte // packets to send when the server asks for a local file
	breakOff bool     // ... and then the client goes away
	password string   // with which COM_CHANGE_USER's questions are answered
	mask     mask
}

// on says which client takes the step.
func (s step) on(client string) step {
	s.client = client
	return s
}

// masked hides what has to differ in the answer.
func (s step) masked(m mask) step {
	s.mask = m
	return s
}

// reads replaces the shape of the answer.
func (s step) reads(shapes ...shape) step {
	s.answers = shapes
	return s
}

// withFile gives the local file that the statement will be asked for.
func (s step) withFile(packets ...string) step {
	s.file = [][]byte{}
	for _, p := range packets {
		s.file = append(s.file, []byte(p))
	}
	return s
}

// thenGone has the client go away in the middle of its file.
func (s step) thenGone() step {
	s.breakOff = true
	return s
}

// query is a COM_QUERY without attributes.
func query(sql string) step {
	return step{label: fmt.Sprintf("QUERY %.200q", sql), answers: []shape{results}, send: func(r *run, c *client) []byte {
		return frame(0, c.queryPayload(r.expand(sql)))
	}}
}

// queries are several steps.
func queries(texts ...string) []step {
	var steps []step
	for _, text := range texts {
		steps = append(steps, query(text))
	}
	return steps
}

// longQuery is a COM_QUERY whose text is made when it is sent: begin, n bytes of x, end.
func longQuery(begin string, n int, end string) step {
	s := query("")
	s.label = fmt.Sprintf("QUERY %s x*%d %s", begin, n, end)
	s.send = func(r *run, c *client) []byte {
		return frame(0, c.queryPayload(r.expand(begin)+strings.Repeat("x", n)+end))
	}
	return s
}

// queryPayload is that of a COM_QUERY, with no attributes where the server expects some.
func (c *client) queryPayload(sql string) []byte {
	b := []byte{comQuery}
	if c.has(queryAttributes) {
		b = append(b, 0, 1)
	}
	return append(b, sql...)
}

// command is any command with its arguments as they are. By default one packet answers it.
func command(code byte, arguments string) step {
	return step{label: fmt.Sprintf("command %#02x %.200q", code, arguments), answers: []shape{one}, send: func(r *run, c *client) []byte {
		return frame(0, append([]byte{code}, r.expand(arguments)...))
	}}
}

// rawBytes writes bytes as they are.
func rawBytes(label string, b []byte) step {
	return step{label: label, answers: []shape{one}, send: func(*run, *client) []byte { return b }}
}

// prepare is COM_STMT_PREPARE. Further steps call the statements by their numbers: 1 for the first that was prepared.
func prepare(sql string) step {
	s := command(comStmtPrepare, sql).reads(prepared)
	s.label = fmt.Sprintf("PREPARE %.200q", sql)
	return s
}

// param is a parameter of an execution, in the binary protocol.
type param struct {
	kind  uint16
	value string
	null  bool
	long  bool // sent ahead by longData
}

const (
	typeTiny     = 1
	typeShort    = 2
	typeLong     = 3
	typeFloat    = 4
	typeDouble   = 5
	typeNull     = 6
	typeLongLong = 8
	typeDate     = 10
	typeTime     = 11
	typeDatetime = 12
	typeBlob     = 252
	typeVarchar  = 253
	unsignedBit  = 0x8000
)

func integer(n int64) param {
	return param{kind: typeLongLong, value: string(binary.LittleEndian.AppendUint64(nil, uint64(n)))}
}

func text(s string) param {
	return param{kind: typeVarchar, value: string(appendLengthEncoded(nil, s))}
}

// Flags of an execution.
const (
	noCursor       = 0
	readOnlyCursor = 1
	countAvailable = 8
)

// execute is COM_STMT_EXECUTE with the types of its parameters.
func execute(id uint32, flags byte, params ...param) step {
	return executeWith(id, flags, true, params)
}

// executeAgain is COM_STMT_EXECUTE with the types of the execution before.
func executeAgain(id uint32, params ...param) step { return executeWith(id, noCursor, false, params) }

func executeWith(id uint32, flags byte, bound bool, params []param) step {
	answer := results
	if flags != noCursor {
		answer = opened
	}
	return step{label: fmt.Sprintf("EXECUTE %d, flags %d, %d parameters", id, flags, len(params)), answers: []shape{answer},
		send: func(_ *run, c *client) []byte { return frame(0, c.executePayload(id, flags, bound, params)) }}
}

func (c *client) executePayload(n uint32, flags byte, bound bool, params []param) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{comStmtExecute}, c.stmtID(n))
	named := c.has(queryAttributes)
	if named && len(params) > 0 {
		flags |= countAvailable
	}
	b = append(b, flags, 1, 0, 0, 0)
	if named && flags&countAvailable != 0 {
		b = append(b, byte(len(params)))
	}
	if len(params) == 0 {
		return b
	}
	nulls := make([]byte, (len(params)+7)/8)
	var types, values []byte
	for i, p := range params {
		types = binary.LittleEndian.AppendUint16(types, p.kind)
		if named {
			types = append(types, 0) // it has no name
		}
		switch {
		case p.null:
			nulls[i/8] |= 1 << (i % 8)
		case !p.long:
			values = append(values, p.value...)
		}
	}
	b = append(b, nulls...)
	if !bound {
		return append(append(b, 0), values...)
	}
	return append(append(append(b, 1), types...), values...)
}

// Flags of a bulk execution, and what may stand before its values.
const (
	bulkUnitResults = 64
	bulkSendTypes   = 128

	markValue   = 0
	markNull    = 1
	markDefault = 2
	markIgnore  = 3
)

// bulk is MariaDB's COM_STMT_BULK_EXECUTE, with the types of the parameters when
// kinds are given. Rows are made by bulkRow.
func bulk(n uint32, flags uint16, kinds []uint16, rows ...string) step {
	return step{label: fmt.Sprintf("BULK %d, flags %d, %d types, %.200q", n, flags, len(kinds), rows), answers: []shape{results},
		send: func(_ *run, c *client) []byte {
			b := binary.LittleEndian.AppendUint32([]byte{comStmtBulkExecute}, c.stmtID(n))
			b = binary.LittleEndian.AppendUint16(b, flags)
			for _, kind := range kinds {
				b = binary.LittleEndian.AppendUint16(b, kind)
			}
			return frame(0, append(b, strings.Join(rows, "")...))
		}}
}

// bulkRow is one row of parameters: each a param, or one of the marks.
func bulkRow(params ...any) string {
	var b []byte
	for _, p := range params {
		switch p := p.(type) {
		case param:
			b = append(append(b, markValue), p.value...)
		case int:
			b = append(b, byte(p))
		}
	}
	return string(b)
}

// longData is COM_STMT_SEND_LONG_DATA.
func longData(n uint32, index uint16, data string) step {
	s := stmtCommand(comStmtSendLongData, n, string(binary.LittleEndian.AppendUint16(nil, index))+data).reads(silent)
	s.label = fmt.Sprintf("LONG DATA %d, parameter %d, %d bytes", n, index, len(data))
	return s
}

func closeStmt(n uint32) step { return stmtCommand(comStmtClose, n, "").reads(silent) }
func resetStmt(n uint32) step { return stmtCommand(comStmtReset, n, "") }
func fetch(n uint32, rows uint32) step {
	return stmtCommand(comStmtFetch, n, number(rows)).reads(fetched)
}

// stmtCommand is a command about the client's n-th statement.
func stmtCommand(code byte, n uint32, rest string) step {
	s := command(code, rest)
	s.label = fmt.Sprintf("command %#02x of statement %d, %.100q", code, n, rest)
	s.send = func(_ *run, c *client) []byte {
		return frame(0, append(binary.LittleEndian.AppendUint32([]byte{code}, c.stmtID(n)), rest...))
	}
	return s
}

// number is a number of 4 bytes in a command.
func number(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

// pipelined writes the commands of several steps at once and then reads their answers.
func pipelined(steps ...step) step {
	all := step{}
	var labels []string
	for _, s := range steps {
		labels = append(labels, s.label)
		all.answers = append(all.answers, s.answers...)
	}
	all.label = "pipelined: " + strings.Join(labels, "; ")
	all.send = func(r *run, c *client) []byte {
		var b []byte
		for _, s := range steps {
			b = append(b, s.send(r, c)...)
		}
		return b
	}
	return all
}

// sent only sends what a step sends; a later answer step reads what comes.
func sent(s step) step {
	s.label, s.answers = "send "+s.label, nil
	return s
}

// answer reads what a sent step left to be read.
func answer(shapes ...shape) step { return step{label: "answer", answers: shapes} }

// connect opens a further client.
func connect(name string, l login) step {
	return step{label: "connect " + name, act: func(r *run, _ *client) error { r.connect(name, l, false); return nil }}
}

// disconnect closes the client's connection without a word.
func disconnect() step {
	return step{label: "disconnect", act: func(_ *run, c *client) error {
		c.dead = true
		return c.Close()
	}}
}

// quit is COM_QUIT; the server closes the connection.
func quit() step { return command(comQuit, "").reads(hangup) }

// learnID asks for CONNECTION_ID(), for {cid:NAME}.
func learnID() step {
	return step{label: "learn CONNECTION_ID()", act: func(r *run, c *client) error {
		rows, err := r.ask(c, "SELECT CONNECTION_ID()")
		if err == nil && len(rows) == 1 {
			r.ids[c] = rows[0]
		}
		return err
	}}
}

// await repeats a query until it has a row.
func await(sql string) step {
	return step{label: "await " + sql, act: func(r *run, c *client) error {
		for end := time.Now().Add(c.patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			rows, err := r.ask(c, r.expand(sql))
			if err != nil || len(rows) > 0 {
				return err
			}
		}
		return fmt.Errorf("no row in %v", c.patience)
	}}
}
