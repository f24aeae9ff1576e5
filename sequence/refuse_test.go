package sequence_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// A store that has a limit of its own for one block refuses whoever wants more, and nobody who waits beside.
func TestTooManyAtOnce(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := &rowStore{nextID: 1, cache: 5, before: func(_ context.Context, req sequence.Request) error {
				time.Sleep(time.Second)
				if req.Need > 5 {
					return &sequence.Error{Kind: sequence.ErrInvalidCount, Sequence: "main.user_seq", Text: "gives 5 at once"}
				}
				return nil
			}}
			reg := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
				return sequence.Settings{Store: store, Ordered: ordered}, nil
			}, sequence.Config{Timeout: time.Minute})
			defer reg.Close(context.Background())
			seq := get(t, reg, userSeq)
			errs := make(chan error, 3)
			for _, n := range []int64{3, 6, 4} {
				go func() {
					_, err := seq.Next(t.Context(), n)
					if (n == 6) != errors.Is(err, sequence.ErrInvalidCount) {
						t.Errorf("ordered %v, %d ids: got %v", ordered, n, err)
					}
					errs <- err
				}()
				synctest.Wait()
			}
			for range 3 {
				<-errs
			}
		})
	}
}
