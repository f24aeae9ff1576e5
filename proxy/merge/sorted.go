package merge

import (
	"io"
	"math"
	"slices"
)

// held is a row that is kept, with its keys.
type held struct {
	packet []byte
	key    values
}

// sorted collects rows and gives them in another order. Of a LIMIT it keeps not many
// more rows than that needs.
type sorted struct {
	from   stage
	format *format
	keys   []sortKey
	limit  LimitError
	keep   int // how many of the first rows are enough; 0 for all

	rows  []held
	bytes int // of the rows' packets
	read  bool
	row   row
}

// kept returns how many rows are enough for a LIMIT, 0 for all.
func kept(offset, count uint64) int {
	const many = 1 << 30
	if n := offset + count; n >= offset && n < many {
		return int(n)
	}
	return 0
}

func (s *sorted) next() (*row, error) {
	if !s.read {
		if err := s.collect(); err != nil {
			return nil, err
		}
		s.read = true
	}
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	s.row.set(s.rows[0].packet)
	s.rows = s.rows[1:]
	return &s.row, nil
}

// collect reads all rows.
func (s *sorted) collect() error {
	for {
		w, err := s.from.next()
		if err == io.EOF {
			s.sort()
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.hold(w); err != nil {
			return err
		}
	}
}

// hold keeps a copy of a row.
func (s *sorted) hold(w *row) error {
	if s.keep > 0 && len(s.rows) >= min(2*s.keep, math.MaxInt-1) && len(s.rows) >= 64 {
		s.sort()
		s.cut(min(s.keep, len(s.rows)))
	}
	if s.limit.Rows > 0 && len(s.rows) >= s.limit.Rows || s.limit.Bytes > 0 && s.bytes > s.limit.Bytes {
		return &s.limit
	}
	if err := s.format.split(w); err != nil {
		return err
	}
	h := held{packet: s.format.appendRow(nil, w.fields)}
	if err := h.key.read(s.format, s.keys, w.fields); err != nil {
		return err
	}
	s.rows = append(s.rows, h)
	s.bytes += len(h.packet)
	return nil
}

// cut drops all but the first n rows.
func (s *sorted) cut(n int) {
	for i := n; i < len(s.rows); i++ {
		s.bytes -= len(s.rows[i].packet)
		s.rows[i] = held{}
	}
	s.rows = s.rows[:n]
}

func (s *sorted) sort() {
	slices.SortStableFunc(s.rows, func(a, b held) int { return compare(s.keys, &a.key, &b.key) })
}
