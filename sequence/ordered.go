package sequence

// An ordered sequence (Settings.Ordered) keeps no ids: each attempt to reserve takes just what those want who waited when
// it was sent, and whoever comes later waits for the next attempt. An id that was asked for after another one had been
// received, in any process, was therefore committed after it, and is larger. What a caller that left meanwhile wanted is
// dropped: giving it to one who came after the attempt was sent would break the order.

// askExactly says what the next attempt of an ordered sequence takes: the sum of what is wanted, up to MaxN; false when
// nobody waits. After the row could not give such a sum the first waiter is asked for alone, so that those who fit singly
// get theirs. s.mu is held.
func (s *Sequence) askExactly(req Request) (Request, bool) {
	req.Need, req.Exact = 0, true
	full := false
	for i, w := range s.waiters {
		w.asked = true
		full = full || i > 0 && (s.alone || req.Need+w.n > MaxN)
		if !full {
			req.Need += w.n
		}
	}
	return req, len(s.waiters) > 0
}

// retryAlone reports whether an ordered sequence that has too few ids for all who wait is to try with one of them.
// s.mu is held.
func (s *Sequence) retryAlone() bool {
	if !s.ordered || s.alone {
		return false
	}
	s.alone = true
	return true
}
