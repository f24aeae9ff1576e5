package vschema

import (
	"slices"
	"strings"
)

// sequenceRef is the name of a sequence as an auto_increment writes it.
type sequenceRef struct {
	table    *Table
	keyspace *Keyspace
	name     string
	keyed    bool // the auto_increment has a key
	node     *node
}

// resolveSequences finds the sequence table of each auto_increment, or says which there are.
func (d *decoder) resolveSequences() {
	for _, ref := range d.sequences {
		keyspace, table, ok := splitName(ref.name)
		if !ok {
			d.fail(ref.node, "%q is no table name: write sequence or keyspace.sequence, with `backticks` around a part that has a dot", ref.name)
			continue
		}
		var found *Keyspace
		if keyspace == "" {
			found = d.findUnqualified(ref, table)
		} else {
			found = d.findQualified(ref, keyspace, table)
		}
		switch {
		case found == nil:
		case found.Sharded:
			d.fail(ref.node, "sequence %q is in the sharded keyspace %q: move it to an unsharded keyspace", table, found.Name)
		default:
			ref.table.AutoIncrement.SequenceKeyspace = found.Name
			ref.table.AutoIncrement.SequenceTable = table
			d.use(found.tables[table], ref)
		}
	}
}

// use notes whether a sequence counts by key, which all that use it have to agree on.
func (d *decoder) use(sequence *Table, ref sequenceRef) {
	if d.used[sequence] && sequence.Keyed != ref.keyed {
		d.fail(ref.node, "sequence %q is used with a key by one table and without by another: use two sequences", ref.name)
		return
	}
	d.used[sequence], sequence.Keyed = true, ref.keyed
}

func (d *decoder) findQualified(ref sequenceRef, keyspace, table string) *Keyspace {
	k, ok := d.keyspaces[keyspace]
	if !ok {
		d.fail(ref.node, "there is no keyspace %q%s", keyspace, d.candidates(": ", keyspace, table))
		return nil
	}
	if !k.hasSequence(table) {
		d.notFound(ref, k, table)
		return nil
	}
	return k
}

// findUnqualified looks in the table's own keyspace, then in all that an unqualified name may reach.
func (d *decoder) findUnqualified(ref sequenceRef, table string) *Keyspace {
	if ref.keyspace.hasSequence(table) {
		return ref.keyspace
	}
	var found []*Keyspace
	for _, k := range sorted(d.keyspaces) {
		if k.hasSequence(table) && !k.RequireExplicitRouting {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		d.notFound(ref, ref.keyspace, table)
		return nil
	case 1:
		return found[0]
	}
	names := make([]string, len(found))
	for i, k := range found {
		names[i] = joinName(k.Name, table)
	}
	d.fail(ref.node, "sequence %q is in several keyspaces: write one of %s", table, strings.Join(names, ", "))
	return nil
}

// notFound tells a table that lacks its "type" from a name that nothing has.
func (d *decoder) notFound(ref sequenceRef, k *Keyspace, table string) {
	others := d.candidates(", or ", k.Name, table)
	if _, ok := k.tables[table]; ok {
		d.fail(ref.node, `table %s is not a sequence: give it "type": "sequence"%s`, joinName(k.Name, table), others)
		return
	}
	d.fail(ref.node, `there is no sequence %q: add "%s": {"type": "sequence"} to the tables of an unsharded keyspace%s`,
		ref.name, table, others)
}

// candidates suggests the sequences that there are, after the word that joins it to the sentence.
func (d *decoder) candidates(join, keyspace, table string) string {
	var names []string
	for _, k := range sorted(d.keyspaces) {
		for _, t := range k.Tables() {
			if t.Type == Sequence && !k.Sharded {
				names = append(names, joinName(k.Name, t.Name))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return join + Suggest(joinName(keyspace, table), names)
}

func (k *Keyspace) hasSequence(table string) bool {
	t, ok := k.tables[table]
	return ok && t.Type == Sequence
}

// splitName splits "table", "keyspace.table" and the same with backticks. It is not ok for anything else.
func splitName(s string) (keyspace, table string, ok bool) {
	first, rest, ok := cutIdentifier(s)
	if !ok || rest == "" {
		return "", first, ok
	}
	second, rest, ok := cutIdentifier(strings.TrimPrefix(rest, "."))
	return first, second, ok && rest == ""
}

// cutIdentifier takes one identifier, in backticks or up to a dot, from the front of s.
func cutIdentifier(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, "`") {
		end := strings.IndexByte(s+".", '.')
		name = s[:end]
		return name, s[end:], name != "" && !strings.Contains(name, "`")
	}
	end := 1
	for end < len(s) {
		switch {
		case s[end] != '`':
			end++
		case strings.HasPrefix(s[end:], "``"):
			end += 2
		default:
			name, rest = strings.ReplaceAll(s[1:end], "``", "`"), s[end+1:]
			return name, rest, name != "" && (rest == "" || rest[0] == '.')
		}
	}
	return "", "", false
}

// joinName writes keyspace.table so that splitName reads it back.
func joinName(keyspace, table string) string {
	return quoteName(keyspace) + "." + quoteName(table)
}

func quoteName(s string) string {
	if slices.ContainsFunc([]byte(s), func(c byte) bool { return c == '.' || c == '`' }) {
		return "`" + strings.ReplaceAll(s, "`", "``") + "`"
	}
	return s
}
