package experiments

import (
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size, on all tabs and in both themes.
func TestNothingIsClipped(t *testing.T) {
	looks := []string{"dark"} // colors change no size; pictures are of both
	if os.Getenv(uitest.Shots) != "" {
		looks = append(looks, "light")
	}
	for _, look := range looks {
		d := three()
		q, s, _ := start(t, d)
		scaled := func(scale float32) fyne.Theme { return skin.New(look).Scaled(scale) }
		reads(q, s, d)
		for i, tab := range tabNames {
			s.tabs.Pick(i)
			if text := map[string]string{"Response": "small", "Factors": "The share of the variance"}[tab]; text != "" {
				q.Until(text, func() bool { return uitest.Shows(s.Content(), text) })
			}
			q.FitSideways("experiments-"+look+"-"+strings.ToLower(tab), s.Content(), scaled)
		}
		s.Select(brokenFile)
		reads(q, s, d)
		q.FitSideways("experiments-"+look+"-mistakes", s.Content(), scaled)
	}
}

func TestTheEmptyScreenFits(t *testing.T) {
	d := &fakeDesk{}
	q, s, _ := start(t, d)
	q.Until("the explanation", func() bool { return s.empty.content.Visible() })
	q.FitSideways("experiments-empty", s.Content(), func(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) })
}
