package wire

import (
	"errors"
	"fmt"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Replies are the fractions of a model's answers that cannot be used as they are (0 to 1, together at most 1). Each is drawn from the
// request, its seed and its attempt.
type Replies struct {
	Refused float64 // the model does not answer, and says so
	Fenced  float64 // a JSON answer is in a code block, with words around it
	Empty   float64 // the response has no answer
}

// Reply is a kind of answer.
type Reply uint8

// The kinds of answers.
const (
	ReplyUsual Reply = iota
	ReplyRefused
	ReplyFenced
	ReplyEmpty
)

// Validate reports everything that is wrong with r.
func (r Replies) Validate() error {
	var errs []error
	for _, share := range [...]float64{r.Refused, r.Fenced, r.Empty} {
		if !(share >= 0 && share <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("a fraction of answers is %v; it must be 0 to 1", share))
		}
	}
	if sum := r.Refused + r.Fenced + r.Empty; sum > 1+1e-9 {
		errs = append(errs, fmt.Errorf("the fractions of answers add up to %v; they must add up to at most 1", sum))
	}
	return errors.Join(errs...)
}

// Pick draws the kind of the answer to the request with this key.
func (r Replies) Pick(request draw.Key) Reply {
	if r == (Replies{}) {
		return ReplyUsual
	}
	u := request.Text("reply").Source().Float64()
	for kind, share := range [...]float64{ReplyRefused: r.Refused, ReplyFenced: r.Fenced, ReplyEmpty: r.Empty} {
		if u < share {
			return Reply(kind) //nolint:gosec // one of four
		}
		u -= share
	}
	return ReplyUsual
}
