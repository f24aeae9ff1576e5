package sequence

// Plan is the rule by which every store takes a block from a row, for stores of tests.
func Plan(q Request, nextID, cache int64) (res Reservation, newNextID, newCache int64, err error) {
	res, after, err := q.plan(row{nextID, cache})
	return res, after.next, after.cache, err
}
