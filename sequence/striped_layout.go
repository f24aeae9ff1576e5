package sequence

import (
	"cmp"
	"fmt"
)

// Defaults of [StripeLayout].
const (
	DefaultStripes = 16
	DefaultChunk   = 1_000_000
)

// StripeLayout says which ids belong to which stripe of a [Striped] sequence. It is fixed for the life of a sequence: two
// processes with different layouts would give out the same ids, so each table says in its comment which one it has.
//
// The ids are cut into chunks of the same size, which the stripes own in turn: chunk 0 is stripe 1's, chunk 1 stripe 2's,
// and after the last stripe comes stripe 1 again. A stripe counts through its own chunks: its row holds counts, from 1,
// which mean an id each. So no two stripes have an id in common, whatever their rows hold, and the ids of a stripe
// increase with its counts.
type StripeLayout struct {
	Stripes int   // 2 to 1000; 0: 16. It is also the largest number of servers that can share the work.
	Chunk   int64 // ids, 1 to [MaxN]; 0: 1,000,000. No statement can have more ids than these at once.
}

func (l StripeLayout) withDefaults() StripeLayout {
	return StripeLayout{cmp.Or(l.Stripes, DefaultStripes), cmp.Or(l.Chunk, DefaultChunk)}
}

// check bounds the layout so that no product in this file leaves the int64s. With two stripes at least, a count stays
// under 2^62, and the next_id after the last id can be written down.
func (l StripeLayout) check() error {
	if l.Stripes < 2 || l.Stripes > 1000 {
		return fmt.Errorf("a sequence has 2 to 1000 stripes, not %d", l.Stripes)
	}
	if l.Chunk < 1 || l.Chunk > MaxN {
		return fmt.Errorf("the chunks of a striped sequence hold 1 to %d ids, not %d", int64(MaxN), l.Chunk)
	}
	return nil
}

// id returns the id that a count of a stripe means.
func (l StripeLayout) id(stripe int, count int64) int64 {
	chunk := count/l.Chunk*int64(l.Stripes) + int64(stripe-1)
	return chunk*l.Chunk + count%l.Chunk
}

// owner returns the stripe that owns an id.
func (l StripeLayout) owner(id int64) int { return int(id/l.Chunk%int64(l.Stripes)) + 1 }

// upTo returns the largest count of a stripe that means no larger an id than the one given; 0 when there is none.
func (l StripeLayout) upTo(stripe int, id int64) int64 {
	full := id / l.Chunk / int64(l.Stripes) // chunks that every stripe has below the one of id
	switch owner := l.owner(id); {
	case stripe < owner:
		return (full+1)*l.Chunk - 1
	case stripe == owner:
		return full*l.Chunk + id%l.Chunk
	}
	return max(0, full*l.Chunk-1)
}

// chunkEnd returns the last count of the chunk that count lies in.
func (l StripeLayout) chunkEnd(count int64) int64 { return count - count%l.Chunk + l.Chunk - 1 }

// request translates q for the row of a stripe whose next_id is at least next: it asks for counts of one chunk, which
// mean a contiguous block of ids. It reports false when the stripe has too few ids up to q.Max.
//
// Tail is left out: the block alone holds what is needed, so nothing has to be known about what it adjoins.
func (l StripeLayout) request(q Request, stripe int, next int64) (Request, bool) {
	last := l.upTo(stripe, q.last())
	first := max(next, l.upTo(stripe, q.After)+1)
	if first <= last && l.chunkEnd(first)-first < q.Need-1 {
		first = l.chunkEnd(first) + 1
	}
	if first > last || last-first < q.Need-1 {
		return Request{}, false
	}
	q.Row, q.Tail = int64(stripe), 0
	q.After, q.Max = first-1, min(l.chunkEnd(first), last)
	return q, true
}

// reservation translates what the row of a stripe gave for q. Jumping over the chunks of other stripes raises a row in the
// normal course of things; only a row that is behind ids which it gave to this process itself counts as Raised.
func (l StripeLayout) reservation(q Request, stripe int, res Reservation) Reservation {
	res.Raised = q.After > 0 && l.owner(q.After) == stripe && res.Found <= l.upTo(stripe, q.After)
	res.First = l.id(stripe, res.First)
	res.Found = l.id(stripe, max(0, res.Found))
	res.Server = "" // another one is no failover: it has other ids
	res.Max = 0     // it is the chunk's
	return res
}

// comment is what the comment of a table with stripes on the named server is. It does not contain 'vitess_sequence', so
// nobody takes the counts for ids. It names the server, so that a copy of the table on another server is never used.
func (l StripeLayout) comment(server string) string {
	return fmt.Sprintf("%s %d x %d on %s", stripedComment, l.Stripes, l.Chunk, server)
}

// stripedComment begins the comment of every table with stripes.
const stripedComment = "seqgate_stripes"
