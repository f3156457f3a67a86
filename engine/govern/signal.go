package govern

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
)

// policy derives a limit from readings by one signal.
type policy interface {
	// next returns the limit that the policy allows, or silent, and the reason in words.
	next(r *engine.Reading, b bounds) (limit int, why string)
	// afresh forgets the observations since the limit moved.
	afresh()
	// restart continues from a limit, without observations.
	restart(limit int)
}

type bounds struct{ floor, ceiling int }

const (
	silent     = math.MaxInt // the limit of a policy without an opinion
	busyEnough = 0.5         // share of the time in which the limit must have kept sessions waiting
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

const byBreaker = engine.ByBreaker

var signalNames = [numSignals]string{"resources", "success", "latency", "connections", byBreaker}

// signalsOf returns the signals that decide. With a governor that ignores failures, the run's breaker decides too, and shrinks the limit
// before it trips.
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
	check(known, "governor", fmt.Sprintf("unknown governor %q", s.Governor), strings.Join(names, ", "))
	check(slices.Contains(engine.Breakers, s.Breaker), "breaker", fmt.Sprintf("unknown breaker mode %q", s.Breaker), strings.Join(engine.Breakers, ", "))
	check(s.Governor == engine.Manual || s.Floor >= 1, "floor", fmt.Sprintf("%d concurrent sessions", s.Floor), "at least 1")
	check(s.Governor == engine.Manual || s.Ceiling >= s.Floor, "ceiling", fmt.Sprintf("%d is below the lowest limit, %d", s.Ceiling, s.Floor), "")
	check(s.StallAfter >= 0, "stall-warning", "is negative", "0 disables it")
	return errors.Join(mistakes...)
}

// moved describes a move and its reason.
// titleOf names a signal in a sentence, such as "CPU and memory" or "latency".
func titleOf(signal string) string {
	for _, g := range engine.Governors {
		if g.Name == signal {
			first, _ := utf8.DecodeRuneInString(g.Title[1:])
			if unicode.IsUpper(first) { // an abbreviation
				return g.Title
			}
			return strings.ToLower(g.Title[:1]) + g.Title[1:]
		}
	}
	return "the circuit breaker"
}

func moved(from, to int, why string) string { return fmt.Sprintf("%d → %d: %s", from, to, why) }

// grown returns limit times factor, at least one more.
func grown(limit int, factor float64) int {
	return max(limit+1, int(math.Round(float64(limit)*factor)))
}

// shrunk returns limit times factor, at least one less, and not below half.
func shrunk(limit int, factor float64) int {
	return min(limit-1, int(math.Round(float64(limit)*max(factor, 0.5))))
}
