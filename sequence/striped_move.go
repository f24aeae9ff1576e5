package sequence

import (
	"context"
	"errors"
	"fmt"
)

// Move moves a stripe to another server, while processes use the sequence. It is how a server is added or given up.
//
// First the server that has the stripe turns its row into one left behind, with the number negated and the new server's
// name in it: from then on nobody gets ids of the stripe. Then the new server gets a row that goes on where that one
// ended. When a step fails, or the process dies, call Move again, with any server as the aim: it ends first what was
// begun, and the name says where. That cannot give a stripe to two servers, however late a step is carried out or how
// often: a server that has had the stripe since keeps a row left behind with a larger next_id, and does not take it.
//
// The server that has the stripe and the new one must answer. Errors match [ErrStripes] when servers contradict the
// configuration or each other, and [ErrNoRow] when no answering server has the stripe.
func (s *Striped) Move(ctx context.Context, database, table string, stripe int, to string) error {
	q := Request{Database: database, Table: table, Row: int64(stripe)}
	target := s.server(to)
	if target == nil || stripe < 1 || stripe > s.layout.Stripes {
		return fmt.Errorf("move stripe %d of sequence %s.%s to server %s: there are the stripes 1 to %d and the servers of %v",
			stripe, database, table, to, s.layout.Stripes, s)
	}
	if err := s.move(ctx, q, target); err != nil {
		return fmt.Errorf("move stripe %d of sequence %s.%s to server %s: %w", stripe, database, table, to, err)
	}
	return nil
}

func (s *Striped) move(ctx context.Context, q Request, target *stripeServer) error {
	at, err := s.finishMove(ctx, q)
	if err != nil || at == target {
		return err
	}
	if err := s.prepare(ctx, target, q); err != nil {
		return err
	}
	left := surveyRow{server: at}
	err = at.act(ctx, func(ctx context.Context) (err error) {
		left.stripeRow, err = at.leave(ctx, q, target.name)
		return err
	})
	if err != nil {
		return err
	}
	return s.bring(ctx, q, left, target)
}

// finishMove ends a move that was begun, and returns the server that has the stripe.
func (s *Striped) finishMove(ctx context.Context, q Request) (*stripeServer, error) {
	for range 2 {
		found, err := s.survey(ctx, q)
		var own *Error
		if errors.As(err, &own) {
			return nil, err
		}
		for _, at := range found.live() {
			if at.stripe == int(q.Row) {
				return at.server, nil
			}
		}
		left, ok := found.pending()[int(q.Row)]
		if !ok {
			return nil, errors.Join(q.problem(ErrNoRow, nil, "has no stripe %d on the servers that answer", q.Row), err)
		}
		target := s.server(left.movedTo)
		if target == nil {
			return nil, fmt.Errorf("it is on its way from server %s to server %s; have that in the configuration to end the move", left.server.name, left.movedTo)
		}
		if err := s.prepare(ctx, target, q); err != nil {
			return nil, err
		}
		if err := s.bring(ctx, q, left, target); err != nil {
			return nil, err
		}
	}
	return nil, q.problem(ErrNoRow, nil, "has no stripe %d on the servers that answer", q.Row)
}

// bring gives a stripe that was left behind to its new server.
func (s *Striped) bring(ctx context.Context, q Request, left surveyRow, target *stripeServer) error {
	err := target.act(ctx, func(ctx context.Context) error { return target.arrive(ctx, q, left.stripeRow) })
	if err != nil {
		return err
	}
	return left.server.act(ctx, func(ctx context.Context) error { return left.server.arrived(ctx, q, left.stripeRow) })
}
