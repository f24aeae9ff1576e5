package plan

// Outcome is what an INSERT's OK packet says, and what it has to say.
type Outcome struct {
	Affected uint64
	Reported uint64 // the insert id of the server's OK packet
	First    uint64 // the first id of the block that the statement got
}

// Verdict is what the client is to see.
type Verdict struct {
	InsertID uint64
	// LastID is what LAST_INSERT_ID() has to give afterwards, Actual what the
	// backend's gives; neither is known when Unknown is set.
	LastID, Actual uint64
	Unknown        bool
}

// NeedsProbe reports whether only the table can tell which of the statement's
// rows were inserted.
func (p *Fill) NeedsProbe(o Outcome) bool {
	switch {
	case p.Open == 0:
		return false
	case p.Upsert && p.Rows == 1:
		return p.Wrap && p.FoundRows && o.Affected == 1 && o.Reported == 0 // hidden by a trigger's INSERT
	case p.Upsert:
		return o.Affected > 0
	case p.Ignore:
		return o.Affected > 0 && o.Affected < uint64(p.Rows)
	}
	return false
}

// Decide decides what the client sees of a statement that succeeded, equal to
// what a native AUTO_INCREMENT gives (docs/insert-ids.md). inserted is the first
// id of the block that is in the table, 0 for none; it is only looked at where
// NeedsProbe asked for it. old is LAST_INSERT_ID() before the statement.
func (p *Fill) Decide(o Outcome, inserted, old uint64) Verdict {
	actual := old
	if (p.Wrap || p.Appends) && o.Reported != 0 {
		actual = o.Reported
	}
	if p.Open == 0 && o.Affected == 1 && !p.FromQuery && (o.Reported == 0 || p.Prepared && o.Reported == uint64(p.Explicit)) {
		return Verdict{InsertID: p.ToldExplicit(), LastID: old, Actual: actual}
	}
	if !p.NeedsProbe(o) {
		inserted = p.inserted(o)
	}
	switch {
	case inserted != 0:
		return Verdict{InsertID: inserted, LastID: inserted, Actual: actual}
	case !p.Wrap && !p.Appends:
		return Verdict{InsertID: o.Reported, Unknown: true}
	case p.Ignore && !p.Upsert && o.Affected > 0 && p.HasExplicit:
		return Verdict{InsertID: p.ToldExplicit(), LastID: old, Actual: actual}
	case p.Upsert && p.changed(o) && !p.FromQuery:
		return Verdict{InsertID: o.Reported, LastID: old, Actual: actual}
	}
	return Verdict{LastID: old, Actual: actual}
}

// HidesUpdated reports whether a row that was there was changed, and the packet does not tell which: on a column without
// AUTO_INCREMENT, where a trigger has inserted into a table that has it.
func (p *Fill) HidesUpdated(o Outcome) bool {
	changed := o.Affected > uint64(p.Rows) || p.Open > 0 && p.changed(o) // else rows with ids of their own may be new
	return changed && p.Upsert && p.Wrap && !p.FromQuery && o.Reported == 0 && p.inserted(o) == 0
}

// changed reports whether a row that was there was changed, of a statement that
// inserted none.
func (p *Fill) changed(o Outcome) bool {
	if p.FoundRows {
		return o.Affected > uint64(p.Rows)
	}
	return o.Affected > 0
}

// inserted tells without a look at the table whether the statement's first id
// went in.
func (p *Fill) inserted(o Outcome) uint64 {
	switch {
	case p.Open == 0:
		return 0
	case p.Upsert && (o.Affected != 1 || o.Reported != o.First && o.Reported != 0):
		return 0
	case p.Ignore && o.Affected == 0:
		return 0
	}
	return o.First
}

// OwnOutcome is what became of the ids that a statement brought along.
type OwnOutcome uint8

const (
	OwnUnknown OwnOutcome = iota // some may be stored: the table tells
	OwnStored                    // all of them are
	OwnNone                      // none is
)

// OwnRefused is the outcome of a statement that the server refused: rows before the one
// that failed stay where the engine cannot undo them.
func (p *Fill) OwnRefused() OwnOutcome {
	if p.Binding.Transactional {
		return OwnNone
	}
	return OwnUnknown
}
