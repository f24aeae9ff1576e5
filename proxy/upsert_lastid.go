package proxy

// appendsID reports whether the id of a row that was there can be learned although the
// statement reads LAST_INSERT_ID() itself: of one row, on a column without
// AUTO_INCREMENT, the assignment that tells it comes behind all that read. A call with
// an argument sets what is to be kept.
func (p *fillPlan) appendsID(sql []byte) bool {
	return p.upsert && p.readsLastID && p.rows == 1 && p.binding.Form == 0 && !p.binding.AutoIncrement && !p.returning && !setsLastID(sql)
}
