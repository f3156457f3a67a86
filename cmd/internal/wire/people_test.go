package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestFailuresAreNamed(t *testing.T) {
	name := func(index int) (string, error) { return fmt.Sprintf("villager-%d", index), nil }
	var totals engine.Totals
	if got, err := Failures(&totals, name); got != "" || err != nil {
		t.Errorf("nobody failed: %q, %v", got, err)
	}
	fail := func(agents ...int) {
		for _, a := range agents {
			totals.Add(&engine.SessionRow{Place: engine.Place{Agent: a}, Outcome: engine.Failed, Class: engine.Script})
		}
	}
	fail(200, 3, 64, 3)
	if got, err := Failures(&totals, name); got != "3: villager-3, villager-64, villager-200" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	fail(4, 5, 6, 7, 8, 9, 10, 11)
	if got, err := Failures(&totals, name); err != nil ||
		got != "11: villager-3, villager-4, villager-5, villager-6, villager-7, villager-8, villager-9, villager-10 and 3 more; sessions.csv has them all" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Failures(&totals, func(int) (string, error) { return "", errors.New("no name") }); err == nil {
		t.Error("an agent without a name is named")
	}
}
