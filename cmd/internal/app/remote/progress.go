package remote

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/postgres"
)

// Words describes the state of sending; "" without a database.
func (r *Sender) Words() (text string, trouble bool) {
	pusher, target := r.current()
	if pusher == nil {
		return "", false
	}
	s := pusher.Status()
	return words(&s, target, s.Unsent)
}

// words describes the state of a database with so many waiting rows.
func words(s *postgres.Status, target string, waiting int64) (text string, trouble bool) {
	switch {
	case s.Error != "":
		what := s.Error
		if !strings.HasSuffix(what, "?") {
			what += "."
		}
		return fmt.Sprintf("%s since %s: %s %s rows wait here; nothing is lost.", target, s.Since.Local().Format("15:04:05"), what, engine.FormatCount(waiting)), true
	case !s.Connected:
		return "connecting to " + target, false
	case s.SetAside > 0:
		return refusal(*s, target), true
	case waiting > 0:
		return fmt.Sprintf("%s: %s rows wait here%s", target, engine.FormatCount(waiting), rateText(s.Rate, waiting)), false
	}
	return target + ": all rows sent", false
}

// rateText describes the rate of sending and the remaining time; "" if no rows are sent.
func rateText(rate, waiting int64) string {
	if rate <= 0 {
		return ""
	}
	left := time.Duration(float64(waiting) / float64(rate) * float64(time.Second))
	return fmt.Sprintf(", %s/s, %s left", engine.FormatCount(rate), engine.FormatDuration(left.Round(time.Second)))
}

// Progress describes how far one run is sent.
func (r *Sender) Progress(ctx context.Context, run engine.RunID) string {
	pusher, target := r.current()
	if pusher == nil {
		return ""
	}
	s := pusher.Status()
	left, err := r.store.Unsent(ctx, run, target)
	if err != nil {
		return ""
	}
	text, _ := words(&s, target, left)
	return text
}

// Sink returns the state of the database that results go to; nil if there is none.
func (r *Sender) Sink() *view.Sink {
	pusher, target := r.current()
	if pusher == nil {
		return nil
	}
	s := pusher.Status()
	text, trouble := words(&s, target, s.Unsent)
	return &view.Sink{
		Target: target, Connected: s.Connected, Error: s.Error, Since: s.Since.UTC(), Unsent: s.Unsent, Rejected: s.SetAside,
		Rate: s.Rate, Left: s.Left.Seconds(), Trouble: trouble, Words: text,
	}
}
