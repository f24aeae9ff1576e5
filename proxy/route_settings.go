package proxy

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

// settings are what the client has set in its session, by name. A SET runs on one
// connection, and no other knows of it until it is used: then what the variables hold there
// is read, once, with its type and character set, and set on the other connection as a
// literal. So a right side is evaluated once, whatever it is, and a session that sets
// a variable again and again does not grow.
type settings struct {
	held map[string]setting // by settingKey
	size int                // of the texts, in bytes
	// changes counts them; it says which of the settings a connection has (session.applied).
	changes int

	// ahead is the connection on which something was set that is not in held yet; nil for none.
	ahead   *executor
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

// settingKey gives the name under which an assignment is held: of user variables it
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

// note takes in what was assigned on a connection, the only one that may be ahead.
func (t *settings) note(conn *executor, assigned ...parser.Assignment) {
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

// noteVariables is note for user variables.
func (t *settings) noteVariables(conn *executor, names []string) {
	for _, name := range names {
		t.note(conn, parser.Assignment{Scope: parser.SetUserVariable, Name: name})
	}
}

// noteOpaque is noteVariables for a connection on which a program may have set any: those are
// read that were not set elsewhere since.
func (t *settings) noteOpaque(conn *executor, names []string) error {
	if t.ahead != conn {
		if err := t.settle(); err != nil {
			return err
		}
	}
	for _, name := range names {
		if t.held["@"+name].change <= conn.Applied {
			t.noteVariables(conn, []string{name})
		}
	}
	return nil
}

// settle reads what the connection has that is ahead, so that others can have it too.
func (t *settings) settle() error {
	conn := t.ahead
	if conn == nil {
		return nil
	}
	if conn.Lost || conn.Ends.BackEnded.Load() {
		return &backend.LostError{Err: errors.New("the server ended the connection that had the session's settings")}
	}
	keys := slices.Sorted(maps.Keys(t.changed))
	for chunk := range slices.Chunk(keys, maxRead) {
		texts, err := conn.readSettings(chunk, t.changed)
		if err != nil {
			return err
		}
		for i, key := range chunk {
			if err := t.hold(key, texts[i]); err != nil {
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

func (t *settings) hold(key, text string) error {
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

// apply brings a connection up to date.
func (t *settings) apply(conn *executor) error {
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
			conn.State.Waits = conn.State.Waits && key != writeTimeout
		}
	}
	slices.SortFunc(due, func(a, b setting) int { return a.change - b.change })
	for len(due) > 0 {
		var texts []string
		for size := 0; len(due) > 0 && size < maxScratch; due = due[1:] {
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
