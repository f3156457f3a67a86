package govern

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// policy is what one signal makes of readings.
type policy interface {
	// next returns the limit that it allows, silent where it cannot say, and why in words.
	next(r *engine.Reading, b bounds) (limit int, why string)
	// afresh forgets what was gathered since the limit moved: it says nothing of what comes.
	afresh()
	// restart goes on from a limit, afresh.
	restart(limit int)
}

type bounds struct{ floor, ceiling int }

const (
	silent     = math.MaxInt // the limit of a policy that cannot say
	busyEnough = 0.5         // share of the time in which the limit must have been what kept sessions waiting
)

type signal int

const (
	resourceSignal signal = iota
	successSignal
	latencySignal
	connectionSignal
	failureSignal
	numSignals
)

// By whom a move is, beside the names of engine.Governors.
const byBreaker = "breaker"

var signalNames = [numSignals]string{"resources", "success", "latency", "connections", byBreaker}

// signalsOf are those whose word counts. A governor that does not look at failures has the run's breaker beside it,
// which shrinks before it trips.
func signalsOf(governor, mode string) []signal {
	switch i := slices.Index(signalNames[:failureSignal], governor); {
	case governor == engine.Manual:
		return nil
	case i < 0:
		return []signal{resourceSignal, successSignal, latencySignal, connectionSignal}
	case signal(i) == successSignal || mode == breakerOff:
		return []signal{signal(i)}
	default:
		return []signal{signal(i), failureSignal}
	}
}

func validate(s *engine.Steering) error {
	var mistakes []error
	check := func(ok bool, field, problem, hint string) {
		if !ok {
			mistakes = append(mistakes, &engine.FieldError{Field: field, Problem: problem, Hint: hint})
		}
	}
	known := false
	var names []string
	for _, g := range engine.Governors {
		known = known || g.Name == s.Governor
		names = append(names, g.Name)
	}
	check(known, "governor", fmt.Sprintf("there is no governor %q", s.Governor), strings.Join(names, ", "))
	check(slices.Contains(engine.Breakers, s.Breaker), "breaker", fmt.Sprintf("%q is none of what a run can do", s.Breaker), strings.Join(engine.Breakers, ", "))
	check(s.Governor == engine.Manual || s.Floor >= 1, "floor", fmt.Sprintf("%d sessions at once", s.Floor), "at least 1")
	check(s.Governor == engine.Manual || s.Ceiling >= s.Floor, "ceiling", fmt.Sprintf("%d is below the floor, %d", s.Ceiling, s.Floor), "")
	check(s.StallAfter >= 0, "stall-warning", "is negative", "0 disables it")
	return errors.Join(mistakes...)
}

// moved says what a limit became and why.
func moved(from, to int, why string) string { return fmt.Sprintf("%d → %d: %s", from, to, why) }

// grown is limit times factor, at least one more.
func grown(limit int, factor float64) int {
	return max(limit+1, int(math.Round(float64(limit)*factor)))
}

// shrunk is limit times factor, at least one less, and not under half of it.
func shrunk(limit int, factor float64) int {
	return min(limit-1, int(math.Round(float64(limit)*max(factor, 0.5))))
}
