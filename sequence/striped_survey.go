package sequence

import (
	"context"
	"errors"
	"maps"
)

// survey is all rows of a striped sequence on the servers that answered.
type survey []surveyRow

type surveyRow struct {
	server *stripeServer
	stripeRow
}

// place returns where the stripe is, or was, that r is about.
func (r surveyRow) place() place { return place{r.server, max(r.id, -r.id), r.row} }

// live returns the stripes that are served.
func (v survey) live() (live []place) {
	for _, r := range v {
		if r.id > 0 {
			live = append(live, r.place())
		}
	}
	return live
}

// pending returns the rows of stripes that left a server and are nowhere yet. Where several servers have left a stripe
// behind, the one with the largest next_id did so last.
func (v survey) pending() map[int]surveyRow {
	latest := map[int]surveyRow{}
	for _, r := range v {
		if stripe := -r.id; stripe > 0 && r.next > latest[stripe].next {
			latest[stripe] = r
		}
	}
	for _, at := range v.live() {
		delete(latest, at.stripe)
	}
	maps.DeleteFunc(latest, func(_ int, r surveyRow) bool { return r.movedTo == "" })
	return latest
}

// answer is what one server said.
type answer struct {
	server *stripeServer
	rows   []stripeRow
	err    error
}

// ask asks servers for their rows, all at the same time. The answers come as they are ready, one from each.
func (s *Striped) ask(ctx context.Context, q Request, servers []*stripeServer) <-chan answer {
	answers := make(chan answer, len(servers))
	for _, server := range servers {
		go func() {
			rows, err := server.stripes(ctx, s.layout, q)
			answers <- answer{server, rows, err}
		}()
	}
	return answers
}

// survey asks all servers. Its error names those that did not answer; or it is an [*Error] about what they answered. It
// returns what was found in either case.
func (s *Striped) survey(ctx context.Context, q Request) (survey, error) {
	limited, cancel := context.WithTimeout(ctx, adminTime)
	defer cancel()
	var found survey
	var refusal error
	var silent []error
	answers := s.ask(limited, q, s.servers)
	for range s.servers {
		got := <-answers
		for _, r := range got.rows {
			found = append(found, surveyRow{got.server, r})
		}
		var own *Error
		switch {
		case errors.As(got.err, &own):
			refusal = got.err
		case got.err != nil:
			silent = append(silent, got.server.problem(ctx, got.err))
		}
	}
	switch {
	case refusal != nil:
		return found, refusal
	case silent != nil:
		return found, &serversError{"not all servers of sequence " + q.name() + " answer", silent}
	}
	return found, q.twice(found.live())
}
