package report

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine/view"
)

// transcript is the beginning of what the agents said, by session.
type transcript struct {
	Sessions []spokenSession
	More     string // where the rest is; "" if this is all
	Note     string
}

// spokenSession is what was said in one session.
type spokenSession struct {
	Title string
	Lines []spokenLine
}

// spokenLine is a line of a transcript.
type spokenLine struct {
	Event               bool
	Speaker, Text, More string
	Side                string // "one" for the first speaker of a session, "other" for the second
}

// addTranscript adds the beginning of what the agents said.
func (p *page) addTranscript(ctx context.Context, extras *Extras) error {
	if extras.Transcript == nil {
		return nil
	}
	t, err := extras.Transcript(ctx)
	if err != nil {
		return err
	}
	said := false
	var speakers []string
	for i := range t.Lines {
		l := &t.Lines[i]
		said = said || !l.Aside()
		if i == 0 || t.Lines[i-1].ID != l.ID || t.Lines[i-1].Cycle != l.Cycle || t.Lines[i-1].Take != l.Take {
			p.Transcript.Sessions = append(p.Transcript.Sessions, spokenSession{Title: fmt.Sprintf("%s, cycle %d", l.ID, l.Cycle)})
			speakers = speakers[:0]
		}
		one := spokenLine{Event: l.Aside(), Speaker: l.Speaker, Text: l.Text, More: l.More, Side: sideOf(&speakers, l.Speaker)}
		if l.Kind == view.ToolLine {
			one.Text = l.Sentence()
		}
		if l.To != "" {
			one.Speaker += " to " + l.To
		}
		last := &p.Transcript.Sessions[len(p.Transcript.Sessions)-1]
		last.Lines = append(last.Lines, one)
	}
	if !said { // events alone are in the export
		p.Transcript = transcript{}
		return nil
	}
	p.Transcript.Note = t.Note
	if t.More {
		p.Transcript.More = fmt.Sprintf("This is the beginning. Print all of it with: throngctl transcript %s", p.Run)
	}
	return nil
}

// sideOf returns the side of a speaker: the speakers of a session alternate in the order of their first lines.
func sideOf(speakers *[]string, speaker string) string {
	at := len(*speakers)
	for i, s := range *speakers {
		if s == speaker {
			at = i
		}
	}
	if at == len(*speakers) {
		*speakers = append(*speakers, speaker)
	}
	if at%2 == 0 {
		return "one"
	}
	return "other"
}
