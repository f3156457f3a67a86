package live

import (
	"math"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/prose"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// tone returns the color of a level.
func tone(l health.Level) widgets.Tone {
	return [...]widgets.Tone{
		health.Unknown: widgets.Quiet, health.Good: widgets.Good, health.Healthy: widgets.Good, health.Warning: widgets.Warning, health.Critical: widgets.Bad,
	}[l]
}

// word returns a tile's word for a level. Good levels have none.
func word(l health.Level) string {
	if l == health.Good {
		l = health.Healthy
	}
	return l.String()
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return part / whole
}

// advice returns the advice on unhealthy figures, the worst first.
func advice(f *feed) (text string, worst health.Level) {
	if f.snap.Phase == engine.Ended {
		return "figures at the end of the run, " + f.snap.At.Local().Format(time.TimeOnly), health.Unknown
	}
	var parts, good []string
	for _, v := range view.Unavailable(f.snap) {
		parts = append(parts, words.Sentence(strings.ToUpper(v.Name[:1])+v.Name[1:]+" does not answer")+" Its requests wait, so the figures say little.")
		worst = health.Warning
	}
	for level := health.Critical; level >= health.Warning; level-- {
		for _, found := range f.health {
			if found.Level == level {
				metric := string(found.Metric)
				parts = append(parts, words.Sentence(strings.ToUpper(metric[:1])+metric[1:]+": "+found.Value)+" "+words.Sentence(found.Advice))
				worst = max(worst, level)
			}
		}
	}
	if worst >= health.Warning {
		return strings.Join(parts, "  "), worst
	}
	for _, found := range f.health {
		worst = max(worst, found.Level)
		if found.Level == health.Good {
			good = append(good, string(found.Metric)+": "+found.Advice)
		}
	}
	if worst == health.Unknown {
		return "the first figures come within a second", health.Unknown
	}
	return strings.Join(append([]string{"all figures are within their thresholds"}, good...), "  ·  "), health.Healthy
}

// Help returns the guide's page and heading on the worst figure, or "" if all are healthy.
func (s *Screen) Help() string {
	f := s.seen()
	if f == nil {
		return ""
	}
	worst := health.Finding{Level: health.Healthy}
	for _, found := range f.health {
		if found.Level > worst.Level {
			worst = found
		}
	}
	if worst.Metric == "" {
		return ""
	}
	return "07-dashboard.md#" + prose.Anchor(string(worst.Metric))
}
