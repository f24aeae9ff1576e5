package wiretest

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// run is one case against one address.
type run struct {
	tb             testing.TB
	addr, database string
	table          string // the case's own
	patience       time.Duration
	clients        map[string]*client
	ids            map[*client]string // CONNECTION_ID(), where learned
	trace          []exchange
}

// exchange is what one step brought.
type exchange struct {
	label   string
	packets []recorded
	end     string // how the connection ended, "" when it did not
}

// perform runs a case and gives its trace.
func perform(tb testing.TB, addr, database string, c wireCase) []exchange {
	r := &run{tb: tb, addr: addr, database: database, table: tableOf(c.name), patience: c.patience,
		clients: make(map[string]*client), ids: make(map[*client]string)}
	if r.patience == 0 {
		r.patience = defaultPatience
	}
	defer r.close()
	r.connect("", c.login, c.sees)
	for _, s := range c.steps {
		r.take(s)
	}
	for name, client := range r.clients {
		if name == "" && !client.dead {
			r.take(query("SELECT 'in step'"))
		}
	}
	return r.trace
}

// connect opens a client. How its login went is traced: in full when sees is set, else an error only.
func (r *run) connect(name string, l login, sees bool) {
	c, last, err := dial(r.addr, r.database, l, r.patience)
	e := exchange{label: "login"}
	if err != nil {
		e.end = ending(err)
	}
	if c == nil {
		r.tb.Fatalf("connect to %s: %v", r.addr, err)
	}
	r.clients[name] = c
	if sees && l.response == nil {
		e.packets = append(e.packets, recorded{head: c.greeting.describe()})
	}
	if sees || first(last.payload) != 0 {
		e.packets = append(e.packets, r.record(packet{payload: last.payload}, 0))
	}
	r.trace = append(r.trace, e)
}

// describe tells of a greeting what has to be alike. That TLS can be had is seqgate's own matter.
func (g greeting) describe() string {
	g.flags &^= useTLS
	return fmt.Sprintf("greeting of %s, flags %#x, charset %d, status %#x, plugin %s", g.version, g.flags, g.charset, g.status, g.plugin)
}

// take does one step and traces what came of it.
func (r *run) take(s step) {
	c := r.clients[s.client]
	e := exchange{label: s.label}
	if s.client != "" {
		e.label = s.client + ": " + s.label
	}
	defer func() { r.trace = append(r.trace, e) }()
	if c == nil {
		if s.act == nil {
			r.tb.Fatalf("step %q is of the client %q, who did not connect", s.label, s.client)
		}
	} else if c.dead {
		e.end = "closed before"
		return
	}
	if s.act != nil {
		if err := s.act(r, c); err != nil {
			e.end = err.Error()
		}
		return
	}
	if s.send != nil {
		// A peer that stopped listening may have said why: what it said is read all the same.
		if _, err := c.Write(s.send(r, c)); err != nil && len(s.answers) == 0 {
			e.end = ending(err)
		}
	}
	for _, sh := range s.answers {
		packets, err := c.readAnswer(s, sh)
		e.packets = append(e.packets, r.recordAll(packets, s.mask)...)
		if c.malformed != nil {
			e.end, c.malformed = "malformed OK packet: "+c.malformed.Error(), nil
			return
		}
		if err != nil {
			e.end = ending(err)
			c.dead = true
			return
		}
	}
}

// ask runs a query outside the trace and gives the first column of its rows.
func (r *run) ask(c *client, sql string) ([]string, error) {
	if _, err := c.Write(frame(0, c.queryPayload(sql))); err != nil {
		return nil, err
	}
	packets, err := c.readAnswer(step{}, results)
	if err != nil {
		return nil, err
	}
	if len(packets) > 0 && first(packets[0].payload) == 0xff {
		return nil, fmt.Errorf("%s: %q", sql, packets[0].payload)
	}
	var rows []string
	definitions := 2 // of one column, and its count
	if !c.has(deprecateEOF) {
		definitions++
	}
	for _, p := range packets[definitions : len(packets)-1] {
		n, size := lengthEncoded(p.payload)
		rows = append(rows, string(p.payload[size:size+int(n)]))
	}
	return rows, nil
}

var placeholder = regexp.MustCompile(`\{(db|table|id|cid)(?::(\w*))?\}`)

// tableOf makes a table's name of a case's.
func tableOf(name string) string {
	return "case_" + regexp.MustCompile(`\W+`).ReplaceAllString(name, "_")
}

// expand puts what stands for placeholders into a text.
func (r *run) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		part := placeholder.FindStringSubmatch(found)
		switch c := r.clients[part[2]]; {
		case part[1] == "db":
			return r.database
		case part[1] == "table":
			return r.table
		case c == nil:
			r.tb.Fatalf("%s: no such client", found)
		case part[1] == "id":
			return strconv.FormatUint(uint64(c.greeting.id), 10)
		case r.ids[c] == "":
			r.tb.Fatalf("%s: its id was not learned", found)
		default:
			return r.ids[c]
		}
		return ""
	})
}

// close ends what connections are left, and waits for the peer to have seen it.
func (r *run) close() {
	for _, c := range r.clients {
		if !c.dead {
			if _, err := c.Write(frame(0, []byte{comQuit})); err == nil {
				_, _ = c.readAnswer(step{}, hangup)
			}
		}
		_ = c.Close() // it may be closed already
	}
}
