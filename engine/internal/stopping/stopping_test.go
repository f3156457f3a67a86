package stopping

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the run is ending")
		work, begin := Context(t.Context())
		step, cancel := context.WithCancelCause(work)
		early, end := Until(step, cause)
		defer end()
		over, endOver := Until(step, cause)
		endOver()
		if synctest.Wait(); early.Err() != nil || over.Err() == nil {
			t.Fatalf("before the run is ending: %v, %v", early.Err(), over.Err())
		}
		begin()
		synctest.Wait()
		late, endLate := Until(step, cause)
		defer endLate()
		for _, wait := range []context.Context{early, late} {
			if got := context.Cause(wait); !errors.Is(got, cause) {
				t.Errorf("a wait ended with %v, want %v", got, cause)
			}
		}
		if step.Err() != nil || errors.Is(context.Cause(over), cause) {
			t.Errorf("other work ended: %v, %v", step.Err(), context.Cause(over))
		}
		cut := errors.New("cut")
		cancel(cut)
		other, endOther := Until(t.Context(), cause)
		endOther()
		if other.Err() != nil {
			t.Errorf("a wait outside of runs ended: %v", other.Err())
		}
		again, endAgain := Until(step, cause)
		defer endAgain()
		if got := context.Cause(again); !errors.Is(got, cut) {
			t.Errorf("after a cut it ended with %v", got)
		}
	})
}
