package review

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestUsageOfModels checks the verdict about the usage of a run.
func TestUsageOfModels(t *testing.T) {
	for _, tt := range []struct {
		usage engine.Usage
		grade engine.Grade
		want  string
	}{
		{engine.Usage{}, engine.GradeOK, "no model calls"},
		{engine.Usage{Calls: 3, Input: 900_000, Output: 9}, engine.GradeOK, "3, 900,000 tokens in, 9 out"}, // no cache makes them cheaper
		{engine.Usage{Calls: 3, Input: 60_000, Cacheable: 60_000, Cached: 29_000}, engine.GradeWarning, "had 48% of the tokens"},
		{engine.Usage{Calls: 3, Input: 60_000, Cacheable: 60_000, Cached: 33_000}, engine.GradeOK, "33,000 from the provider's cache, 55%"},
		{engine.Usage{Calls: 3, Input: 49_000, Cacheable: 49_000}, engine.GradeOK, "3, 49,000 tokens in"},
		{engine.Usage{Calls: 3, Input: 60_000, Doubtful: 1}, engine.GradeWarning, "tokens of 1 call contradict each other"},
	} {
		if got := Usage(&tt.usage); got.Grade != tt.grade || !strings.Contains(got.Text, tt.want) || (got.Hint != "") != (tt.grade != engine.GradeOK) {
			t.Errorf("%+v: got %+v, want %v %q", tt.usage, got, tt.grade, tt.want)
		}
	}
}
