package dash

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// trouble is the third column: findings with advice, errors, and the log.
func (p *picture) trouble(width int) []row {
	s := p.status
	rows := append([]row{titled("Health", width)}, p.health(width)...)
	if len(s.Errors) > 0 {
		rows = append(rows, blank(), row{titled("Errors", width).line, 2})
	}
	for i := range s.Errors {
		e := &s.Errors[i]
		rows = append(rows, row{say(bad, "✖ ").and(plain, fmt.Sprintf("%s × %s", e.Class, engine.FormatCount(e.Count))).and(quiet, where(e)), min(1+i, 6)})
		for k, text := range wrap(e.Message, width-2, 2) {
			rows = append(rows, row{say(quiet, "  "+text), 3 + i + k})
		}
	}
	if len(s.Changes) > 0 {
		rows = append(rows, blank(), row{titled("Log", width).line, 3})
	}
	for i := range s.Changes {
		e := &s.Changes[len(s.Changes)-1-i]
		const stamp = 9
		for k, text := range wrap(changed(e), width-stamp, 3) {
			if k == 0 {
				rows = append(rows, row{say(quiet, at(e.At)+" ").and(plain, text), 2 + i})
			} else {
				rows = append(rows, row{say(plain, strings.Repeat(" ", stamp)+text), 10 + i})
			}
		}
	}
	return rows
}

// health lists findings, or says that everything is healthy.
func (p *picture) health(width int) (rows []row) {
	known := 0
	for i := range p.status.Health {
		f := &p.status.Health[i]
		if f.Level != health.Unknown {
			known++
		}
		glyph, t, rank := "▲ ", warning, 1
		switch f.Level {
		case health.Critical:
			glyph, t, rank = "✖ ", bad, 0
		case health.Warning:
		default:
			continue
		}
		rows = append(rows, row{say(t, glyph+f.Level.String()+" ").and(strong, string(f.Metric)).and(plain, " "+f.Value), rank})
		for k, text := range wrap(f.Advice, width-2, 3) {
			rows = append(rows, row{say(quiet, "  "+text), 4 + rank + 2*k})
		}
	}
	switch {
	case len(rows) > 0:
		return rows
	case known == 0:
		return []row{{say(quiet, "· no data yet"), 0}}
	}
	return []row{{say(good, "✓ healthy").and(quiet, fmt.Sprintf(", all %d figures", known)), 0}}
}

// where describes the last occurrence of an error.
func where(e *engine.ErrorNote) string {
	var parts []string
	if e.Path != "" {
		parts = append(parts, "at "+e.Path)
	}
	if e.Name != "" {
		parts = append(parts, "last "+e.Name)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, ", ")
}

// changed describes a change in one line.
func changed(e *engine.ChangeRow) string {
	text := e.What
	switch {
	case e.Old != "" && e.New != "":
		text += " " + e.Old + " → " + e.New
	case e.New != "":
		text += " " + e.New
	}
	if e.Who != "" {
		text += ", " + e.Who
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}
