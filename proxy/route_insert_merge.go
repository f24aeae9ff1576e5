package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// merge makes one answer of those of several shards, and tells their sessions what
// LAST_INSERT_ID() has to give: what one server would have said of all rows.
func (in *shardedInsert) merge(parts []insertPart) wire.OK {
	r := in.r
	old := r.s.State.LastID
	var all wire.OK
	var info insertInfo
	last := -1 // the row that the insert id is of, of those with ids of their own
	for i := range parts {
		p := &parts[i]
		if in.Kind == plan.Filled && in.Fill.Texts == nil {
			p.conn.tellInserted(&p.fill, in.target(p.conn), &p.ok)
		}
		if i > 0 && in.SameRows() {
			continue // the same rows again
		}
		all.AffectedRows += p.ok.AffectedRows
		all.Warnings += p.ok.Warnings
		all.Status |= p.ok.Status &^ mysql.SERVER_SESSION_STATE_CHANGED
		info.add(p.info())
		switch id := p.ok.InsertID; {
		case id == 0, in.isNew(all.InsertID) && (!in.isNew(id) || all.InsertID < id):
		case in.isNew(id):
			all.InsertID = id
		case p.last >= last:
			all.InsertID, last = id, p.last
		}
	}
	if in.tellsLastRow(all) {
		all.InsertID = in.Fill.ToldExplicit()
	}
	lastID := old
	if in.isNew(all.InsertID) || in.Effect&plan.MayChangeLastID != 0 && all.InsertID != 0 {
		lastID = all.InsertID
	}
	r.idConn = parts[0].conn
	r.wantLastID(lastID)
	if in.Planner.Stmt.Rows > 1 {
		all.Rest = info.append(nil)
	}
	return all
}

// tellsLastRow reports whether the insert id is that of the statement's last row, which
// a server tells where all ids are the client's own, also when that row was not inserted
// (MySQL's sql_insert.cc: next_number_field of the last record, once any was copied).
func (in *shardedInsert) tellsLastRow(all wire.OK) bool {
	return in.Fill.Open == 0 && in.Fill.HasExplicit && all.AffectedRows > 0 && in.Effect&plan.MayChangeLastID == 0
}

// isNew reports whether an id is of those that the statement took.
func (in *shardedInsert) isNew(id uint64) bool {
	switch {
	case in.Fill.Open == 0 || in.Kind != plan.Filled || in.Fill.Texts != nil:
		return false
	case in.Fill.IDs != nil && in.Binding.Numbers != nil: // those of others may be between them
		_, found := slices.BinarySearch(in.Fill.IDs, int64(id))
		return found
	}
	return id >= uint64(in.Fill.ID(0)) && id <= uint64(in.Fill.ID(int(in.Fill.Open)-1))
}

// insertInfo are the numbers in the text that a server adds to the answer to an INSERT
// of several rows.
type insertInfo struct{ records, duplicates, warnings uint64 }

func (i *insertInfo) add(more insertInfo) {
	i.records += more.records
	i.duplicates += more.duplicates
	i.warnings += more.warnings
}

// info reads the numbers of a part. For one row a server gives none, and the demo's
// engine never: they follow from the rows affected (sql_insert.cc: one for a row that
// was inserted, two for one that took the place of another or changed it).
func (p *insertPart) info() insertInfo {
	if p.fill.Rows > 1 {
		if n := numbersIn(infoText(p.ok)); len(n) == 3 {
			return insertInfo{n[0], n[1], n[2]}
		}
	}
	info := insertInfo{records: uint64(max(p.fill.Rows, 1)), warnings: uint64(p.ok.Warnings)}
	switch {
	case p.ok.AffectedRows > info.records:
		info.duplicates = p.ok.AffectedRows - info.records
	case p.ok.AffectedRows == 0 && p.fill.Ignore:
		info.duplicates = 1
	}
	return info
}

// infoText returns the text of an OK packet.
func infoText(ok wire.OK) []byte {
	n, _, size := wire.LengthEncoded(ok.Rest)
	text := ok.Rest[size:]
	return text[:min(n, uint64(len(text)))]
}

// numbersIn returns the whole numbers in a text, of whatever language.
func numbersIn(text []byte) (all []uint64) {
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.ParseUint(string(word), 10, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// append appends the text as an OK packet has it.
func (i insertInfo) append(dst []byte) []byte {
	return wire.AppendText(dst, fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", i.records, i.duplicates, i.warnings))
}
