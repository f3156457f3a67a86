package review

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

// Usage checks the usage of models: whether providers report it, and whether their caches had long prompts.
func Usage(u *engine.Usage) engine.Check {
	share, low := health.CachedShare(u)
	switch {
	case u.Calls == 0:
		return engine.Check{Grade: engine.GradeOK, Text: "no model calls"}
	case u.Doubtful > 0:
		return engine.Check{
			Grade: engine.GradeWarning, Text: fmt.Sprintf("the reported tokens of %s contradict each other; the larger ones count", engine.Counted(u.Doubtful, "call", "calls")),
			Hint: "compare the cost with the provider's bill",
		}
	case low:
		return engine.Check{
			Grade: engine.GradeWarning, Text: fmt.Sprintf("the provider's cache had %.0f%% of the tokens of long prompts", 100*share),
			Hint: health.CacheAdvice,
		}
	}
	return engine.Check{Grade: engine.GradeOK, Text: view.FormatUsage(u)}
}
