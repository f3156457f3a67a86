package engine

import "testing"

// TestEveryPermanentStatusSaysWhatToChange checks the list of permanent statuses, and that each has advice.
func TestEveryPermanentStatusSaysWhatToChange(t *testing.T) {
	for _, status := range []int{401, 403, 404, 422} {
		if permanentStatuses[status] == "" {
			t.Errorf("%d can heal", status)
		}
	}
	for _, status := range []int{402, 408, 409, 423, 425, 429, 500, 502, 503, 504} {
		if permanentStatuses[status] != "" {
			t.Errorf("%d cannot heal", status)
		}
	}
}
