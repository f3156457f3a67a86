package experiments

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/dialog"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/permit"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// say shows a message about an order; nothing can be revealed.
func (s *Screen) say(text string, tone widgets.Tone) {
	s.saved = ""
	s.head.reveal.Hide()
	s.head.said.Say(text, tone)
}

// order orders something about the chosen experiment. failed begins the message if it fails. then is called if it succeeds, and may be nil.
func (s *Screen) order(failed string, do func(ctx context.Context, path string) error, then func()) {
	path := s.chosen
	if path == "" || s.ordered != "" {
		return
	}
	s.ordered = path
	s.say("", widgets.Neutral)
	s.draw()
	async.Work(func() (struct{}, error) { return struct{}{}, do(context.Background(), path) }, func(_ struct{}, err error) {
		s.ordered = ""
		switch {
		case err != nil && path == s.chosen:
			s.say(failed+" "+words.Trouble(err), widgets.Bad)
		case err == nil && then != nil:
			then()
		}
		s.draw()
		s.read()
	})
}

// run asks for the addresses that the scenario may call, and starts the missing runs.
func (s *Screen) run() {
	path := s.chosen
	const failed = "Not started."
	if path == "" || s.ordered != "" {
		return
	}
	s.ordered = path // until the addresses are known
	s.draw()
	async.Work(func() ([]engine.Destination, error) { return s.desk.Unallowed(context.Background(), path) }, func(of []engine.Destination, err error) {
		s.ordered = ""
		s.draw()
		start := func(allowed []string) {
			if path == s.chosen {
				s.order(failed, func(ctx context.Context, path string) error { return s.desk.Run(ctx, path, allowed) }, nil)
			}
		}
		switch {
		case path != s.chosen:
		case err != nil:
			s.say(failed+" "+words.Trouble(err), widgets.Bad)
		case len(of) == 0:
			start(nil)
		default:
			permit.Ask(s.win, permit.Question{File: filepath.Base(path), Verb: "Allow and run", Of: of}, func(allowed []string) {
				if allowed != nil {
					start(allowed)
				}
			})
		}
	})
}

// resume continues a paused experiment, or starts the missing runs of one that was stopped.
func (s *Screen) resume() {
	if e := s.entry(); e != nil && e.State == Paused {
		s.order("Not continued.", s.desk.Continue, nil)
		return
	}
	s.run()
}

func (s *Screen) pause() { s.order("Not paused.", s.desk.Pause, nil) }

func (s *Screen) stop() { s.order("Not stopped.", s.desk.Stop, nil) }

func (s *Screen) edit() {
	if s.chosen != "" {
		s.ways.Edit(s.chosen)
	}
}

func (s *Screen) asText() {
	if s.chosen != "" {
		s.ways.Text(s.chosen)
	}
}

// mostSeeds is the largest number of seeds that are added at a time.
const mostSeeds = 1000

// askSeeds asks how many seeds to add.
func (s *Screen) askSeeds() {
	if s.shown == nil || s.shown.comparison == nil {
		return
	}
	points, seeds := len(s.shown.comparison.Table.Points), len(s.shown.comparison.Table.Seeds)
	entry := form.NewEntry()
	row := form.NewRow(fmt.Sprintf("Seeds to add to the %d that each point has", seeds), entry)
	count := func() int {
		n, err := strconv.Atoi(strings.TrimSpace(entry.Text))
		if err != nil || n < 1 || n > mostSeeds {
			return 0
		}
		return n
	}
	ask := dialog.NewCustomConfirm("More seeds", "Add", "Cancel", form.NewWide(seedsEms, row), func(yes bool) {
		if n := count(); yes && n > 0 {
			s.order("No seeds were added.", func(ctx context.Context, path string) error { return s.desk.MoreSeeds(ctx, path, n) }, nil)
		}
	}, s.win)
	entry.OnChanged = func(string) {
		row.SetHelp(fmt.Sprintf("Type a number from 1 to %d", mostSeeds))
		if n := count(); n > 0 {
			row.SetHelp(counted(n, "seed", "seeds") + " at each point: " + counted(points*n, "more run", "more runs") + ". The file is changed")
		}
	}
	entry.SetText("5")
	widgets.Ask(s.win, ask, ask.Confirm)
}

// seedsEms is the width of the question, in text heights.
const seedsEms = 28

func (s *Screen) askReport() {
	widgets.PickSave(s.win, "Report", s.name()+".html", func(to string) {
		if filepath.Ext(to) == "" {
			to += ".html"
		}
		s.order("The report failed.", func(ctx context.Context, path string) error { return s.desk.Report(ctx, path, to) }, func() {
			s.wrote(export.Said(export.Report, to), to)
		})
	})
}

func (s *Screen) askExport() {
	widgets.PickFolder(s.win, "Folder for the export", "Save here", func(dir string) {
		written := ""
		s.order("The export failed.", func(ctx context.Context, path string) (err error) {
			written, err = s.desk.Export(ctx, path, dir)
			return err
		}, func() { s.wrote("Exported to "+written+": a table of runs, and one of effects.", written) })
	})
}

// name returns the name of the file without its extension.
func (s *Screen) name() string { return Name(s.chosen) }

// wrote shows a message with a button that opens a folder.
func (s *Screen) wrote(text, path string) {
	s.say(text, widgets.Good)
	s.saved = path
	s.head.reveal.Show()
}

func (s *Screen) showSaved() {
	if err := export.OpenFolder(s.saved); err != nil {
		s.head.said.Say("Cannot open "+s.saved+". "+words.Trouble(err), widgets.Bad)
	}
}

// askForget removes the chosen experiment from the list.
func (s *Screen) askForget() {
	e := s.entry()
	if e == nil {
		return
	}
	text := words.NewParagraph(s.win, "It leaves this list. The file and the runs stay, and opening the file adds it again.")
	ask := dialog.NewCustomConfirm("Forget “"+e.Title+"”?", "Forget", "Cancel", text, func(yes bool) {
		if yes {
			s.order("Not forgotten.", s.desk.Forget, func() { s.chosen, s.shown = "", nil })
		}
	}, s.win)
	widgets.Ask(s.win, ask, ask.Confirm)
}
