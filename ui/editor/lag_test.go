package editor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"
)

// long returns a scenario of at least so many lines.
func long(lines int) string {
	var b strings.Builder
	b.WriteString("services:\n  model: {kind: llm, provider: mock}\nchain c:\n")
	for i := 0; strings.Count(b.String(), "\n") < lines; i++ {
		fmt.Fprintf(&b, "  step s%d:\n    kind: llm\n    service: model\n    prompt: \"Hello ${agent.id}\"\n    answer: {go: bool, why: string}\n", i)
	}
	return b.String()
}

// TestTypingDoesNotLag types in a scenario of 2,000 lines and measures what a key takes, with completion. The limit is generous, because
// test machines are busy; the usual time is logged.
func TestTypingDoesNotLag(t *testing.T) {
	st := newStage(t, newFake(false, long(2000)))
	st.pause = time.Hour // the check is not part of a key
	e := st.shown.editor
	e.Go(1990, 30)
	e.Go(len(strings.Split(e.Text(), "\n")), 1)
	test.Type(e.Target(), "  step x: {kind: stop, when: ")
	var worst time.Duration
	typed := "agent.index > 1 and steps.s1.go and chance(0.5) and not steps.s399.why "
	began := time.Now()
	for _, r := range typed {
		before := time.Now()
		e.Target().TypedRune(r)
		worst = max(worst, time.Since(before))
	}
	usual := time.Since(began) / time.Duration(len(typed))
	t.Logf("a key takes %v, at most %v", usual, worst)
	if usual > 100*time.Millisecond {
		t.Errorf("a key takes %v", usual)
	}
}
