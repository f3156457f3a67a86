package words

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestTrouble checks that the advice comes first, before the error.
func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("delete run r: %w", engine.ErrInUse), "nothing was changed. Stop it where it runs"},
		{fmt.Errorf("restore run r: %w", engine.ErrNotFound), "It is not there any more"},
		{fmt.Errorf("note: %w: %w", engine.ErrNoRoom, errors.New("database or disk is full")), "nothing that was kept is lost. Make room"},
		{fmt.Errorf("ask: %w", context.DeadlineExceeded), "Try again"},
		{fmt.Errorf("open: %w", engine.ErrNewer), "Update this one"},
	} {
		got := Trouble(c.err)
		if before, after, ok := strings.Cut(got, c.err.Error()[1:]); !ok || !strings.Contains(before, c.want) || after != "." {
			t.Errorf("%v: got %q", c.err, got)
		}
	}
	mistake := &engine.FieldError{Field: "limit", Problem: "is high", Hint: "lower it"}
	if got := Trouble(fmt.Errorf("%w", errors.Join(engine.ErrNotFound, mistake))); strings.Contains(got, "any more") {
		t.Errorf("a mistake with a hint: got %q", got)
	}
	for text, want := range map[string]string{"nothing answers.": "Nothing answers.", "db.example:5432 is gone": "db.example:5432 is gone.", "limit: is high": "limit: is high."} {
		if got := Trouble(errors.New(text)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
