package sequence

import (
	"database/sql/driver"
	"time"
)

// Plan is the rule by which every store takes a block from a row, for stores of tests.
func Plan(q Request, nextID, cache int64) (res Reservation, newNextID, newCache int64, err error) {
	res, after, err := q.plan(row{nextID, cache})
	return res, after.next, after.cache, err
}

// InTurns is a connector for pools whose attempts take turns as those of [NewPool] do.
func InTurns(c driver.Connector) driver.Connector { return withTurns{c, newTurns(poolSize)} }

// Patient has s go on to another server only after longer than a busy machine takes, for tests that want the ids of one.
func Patient(s *Striped) *Striped {
	s.answerTimeout = 20 * time.Second
	return s
}
