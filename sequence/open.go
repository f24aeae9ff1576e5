package sequence

import "context"

// Open returns one sequence, for programs that need no [Registry]: the caller ends it by [Sequence.Close]. It does not
// connect yet. A program has one Sequence for each row: two of them share the row, as two processes do, and their ids
// are in no order.
func Open(name Name, set Settings, cfg Config) *Sequence {
	return newSequence(name, set, cfg.withDefaults())
}

// Same is what [NewRegistry] opens sequences with when all of them have the same store, as those of one server have.
func Same(store Store) func(Name) (Settings, error) {
	return func(Name) (Settings, error) { return Settings{Store: store}, nil }
}

// Close ends a sequence that [Open] made, as [Registry.Close] does those of a registry: calls of Next that wait and later
// ones return [ErrClosed], and what is left in memory goes back to the row if nobody else has reserved ids after it. When
// ctx ends first, the rest is lost as in a crash: a gap. It returns why ids could not be given back.
func (s *Sequence) Close(ctx context.Context) error { return s.close(ctx) }
