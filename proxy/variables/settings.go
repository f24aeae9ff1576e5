// Package variables has what the client of several connections has set in its session be the same on all of them.
package variables

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Settings are what the client has set in its session, by name. A SET runs on one
// connection, and no other knows of it until it is used: then what the variables hold there
// is read, once, with its type and character set, and set on the other connection as a
// literal. So a right side is evaluated once, whatever it is, and a session that sets
// a variable again and again does not grow.
type Settings struct {
	held map[string]setting // by settingKey
	size int                // of the texts, in bytes
	// changes counts them; it says which of the settings a connection has (Session.Applied).
	changes int

	// ahead is the connection on which something was set that is not in held yet; nil for none.
	ahead   *backend.Session
	changed map[string]parser.Assignment // there
}

// setting is what a variable holds.
type setting struct {
	text   string // an assignment of SET
	change int
}

// maxSettings bounds what one session's variables hold when several connections have to have
// it, in bytes.
const maxSettings = 64 << 20

// settingCharsets stands for all variables of character sets, which depend on each other.
const settingCharsets = "names"

// settingKey returns the name under which an assignment is held: of user variables it
// begins with @. It is empty for what is not of the session's settings.
func settingKey(a parser.Assignment) string {
	switch {
	case a.Scope == parser.SetUserVariable:
		return "@" + a.Name
	case a.Scope == parser.SetCharsets:
		return settingCharsets
	case a.Scope != parser.SetSessionVariable, a.Name == "last_insert_id", a.Name == "identity":
		return ""
	case slices.Contains(charsetVariables, a.Name):
		return settingCharsets
	}
	return a.Name
}

var charsetVariables = []string{"charset", "character_set_client", "character_set_results", "character_set_connection",
	"collation_connection", "character_set_database", "collation_database"}

// Note takes in what was assigned on a connection, the only one that may be ahead.
func (t *Settings) Note(conn *backend.Session, assigned ...parser.Assignment) {
	for _, a := range assigned {
		key := settingKey(a)
		if key == "" {
			continue
		}
		if t.changed == nil {
			t.changed = make(map[string]parser.Assignment)
		}
		t.ahead, t.changed[key] = conn, a
	}
}

// NoteVariables is Note for user variables.
func (t *Settings) NoteVariables(conn *backend.Session, names []string) {
	for _, name := range names {
		t.Note(conn, parser.Assignment{Scope: parser.SetUserVariable, Name: name})
	}
}

// NoteOpaque is NoteVariables for a connection on which a program may have set any: those are
// read that were not set elsewhere since.
func (t *Settings) NoteOpaque(conn *backend.Session, names []string) error {
	if t.ahead != conn {
		if err := t.ReadChanged(); err != nil {
			return err
		}
	}
	for _, name := range names {
		if t.held["@"+name].change <= conn.Applied {
			t.NoteVariables(conn, []string{name})
		}
	}
	return nil
}

// ReadChanged reads what the connection has that is ahead, so that others can have it too.
func (t *Settings) ReadChanged() error {
	conn := t.ahead
	if conn == nil {
		return nil
	}
	if conn.Lost || conn.Ends.BackEnded.Load() {
		return &backend.LostError{Err: errors.New("the server ended the connection that had the session's settings")}
	}
	keys := slices.Sorted(maps.Keys(t.changed))
	for chunk := range slices.Chunk(keys, maxRead) {
		texts, err := readSettings(conn, chunk, t.changed)
		if err != nil {
			return err
		}
		for i, key := range chunk {
			if err := t.Hold(key, texts[i]); err != nil {
				return err
			}
			delete(t.changed, key)
		}
	}
	t.ahead = nil
	conn.Applied = t.changes
	return nil
}

// maxRead is how many variables are read at once.
const maxRead = 200

// Hold notes what a setting holds, as an assignment of SET, for connections that have not got it yet.
func (t *Settings) Hold(key, text string) error {
	former := t.held[key]
	if t.size+len(text)-len(former.text) > maxSettings {
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
			"seqgate does not support more than %d MiB in the variables of a session over several shards; set %s to less", maxSettings>>20, key))
	}
	if t.held == nil {
		t.held = make(map[string]setting)
	}
	t.changes++
	t.size += len(text) - len(former.text)
	t.held[key] = setting{text, t.changes}
	return nil
}

// WriteTimeout is the variable that seqgate raises itself on connections whose answers wait.
const WriteTimeout = "net_write_timeout"

// maxText is how long, in bytes, the text of a SET becomes before another one follows.
const maxText = 64 << 10

// Apply brings a connection up to date.
func (t *Settings) Apply(conn *backend.Session) error {
	if conn.Applied == t.changes {
		return nil
	}
	var due []setting
	readsOtherwise := false
	for key, s := range t.held {
		if s.change > conn.Applied {
			due = append(due, s)
			readsOtherwise = readsOtherwise || key == settingCharsets || key == "sql_mode"
			if key == catalog.IncrementVariable {
				conn.ForgetIDSettings()
			}
			conn.State.Waits = conn.State.Waits && key != WriteTimeout
		}
	}
	slices.SortFunc(due, func(a, b setting) int { return a.change - b.change })
	for len(due) > 0 {
		var texts []string
		for size := 0; len(due) > 0 && size < maxText; due = due[1:] {
			texts, size = append(texts, due[0].text), size+len(due[0].text)
		}
		if err := conn.Quietly("SET " + strings.Join(texts, ", ")); err != nil {
			return err
		}
	}
	conn.Applied = t.changes
	if readsOtherwise {
		conn.State.EnvironmentKnown = false
	}
	return nil
}

// IsAhead reports whether something was set on a connection that no other one has yet.
func (t *Settings) IsAhead(conn *backend.Session) bool { return t.ahead != nil && t.ahead == conn }

// Ahead returns that connection; nil when there is none.
func (t *Settings) Ahead() *backend.Session { return t.ahead }

// Has reports whether the session has set a system variable.
func (t *Settings) Has(name string) bool {
	_, held := t.held[name]
	_, changed := t.changed[name]
	return held || changed
}

// Assignment returns the assignment of SET that makes of a system variable what the session has set, as far as that is known.
func (t *Settings) Assignment(name string) (text string, ok bool) {
	s, ok := t.held[name]
	return s.text, ok
}

// Latest is Assignment for what the session set last, which is read if it is not known.
func (t *Settings) Latest(name string) (text string, ok bool, err error) {
	if _, changed := t.changed[name]; changed {
		err = t.ReadChanged()
	}
	text, ok = t.Assignment(name)
	return text, ok, err
}

// readSettings returns the assignments of SET that make on another connection what the session
// has.
func readSettings(c *backend.Session, keys []string, changed map[string]parser.Assignment) ([]string, error) {
	texts := make([]string, len(keys))
	var expressions []string
	for _, key := range keys {
		expressions = append(expressions, expressionsOf(key)...)
	}
	values, err := Read(c, expressions)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		n := len(expressionsOf(key))
		switch {
		case key[0] == '@':
			texts[i] = quoteVariable(key[1:]) + " = " + values[0].Literal(true)
		case changed[key].Default && key == "timestamp":
			texts[i] = "timestamp = DEFAULT" // which goes on, while its value stands still
		case key == settingCharsets:
			texts[i] = fmt.Sprintf("character_set_client = %s, character_set_results = %s, collation_connection = %s",
				values[0].Literal(false), values[1].Literal(false), values[2].Literal(false))
		default:
			texts[i] = "SESSION " + key + " = " + values[0].Literal(false)
		}
		values = values[n:]
	}
	return texts, nil
}

// expressionsOf returns what has to be read for a setting.
func expressionsOf(key string) []string {
	switch {
	case key[0] == '@':
		return []string{quoteVariable(key[1:])}
	case key == settingCharsets:
		return []string{"@@SESSION.character_set_client", "@@SESSION.character_set_results", "@@SESSION.collation_connection"}
	}
	return []string{"@@SESSION." + key}
}
