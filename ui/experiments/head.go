package experiments

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// head is the title of an experiment, its state and its buttons.
type head struct {
	title *widgets.Title
	badge *widgets.Badge
	line  *form.Note
	said  *widgets.Notice // about the last order

	run, resume, pause, stop, seeds, report, export, edit, text, forget *widget.Button

	bar     *widgets.Bar
	reveal  *widget.Button
	content fyne.CanvasObject
}

func newHead(s *Screen) *head {
	button := func(text string, icon fyne.Resource, do func()) *widget.Button {
		return widget.NewButtonWithIcon(text, icon, do)
	}
	h := &head{
		title: widgets.NewTitle(theme.SizeNameSubHeadingText), badge: widgets.NewBadge("", widgets.Neutral), line: form.NewNote(""), said: widgets.NewNotice(),
		run:    button("Run", theme.MediaPlayIcon(), s.run),
		resume: button("Continue", theme.MediaPlayIcon(), s.resume),
		pause:  button("Pause", theme.MediaPauseIcon(), s.pause),
		stop:   button("Stop", theme.MediaStopIcon(), s.stop),
		seeds:  button("More seeds…", theme.ContentAddIcon(), s.askSeeds),
		report: button("Report…", theme.DocumentIcon(), s.askReport),
		export: button("Export…", theme.DocumentSaveIcon(), s.askExport),
		edit:   button("Edit…", theme.DocumentCreateIcon(), s.edit),
		text:   button("Open as text", theme.DocumentIcon(), s.asText),
		forget: button("Forget…", theme.ContentRemoveIcon(), s.askForget),
		reveal: button("Open folder", theme.FolderOpenIcon(), s.showSaved),
	}
	h.run.Importance, h.resume.Importance = widget.HighImportance, widget.HighImportance
	h.reveal.Hide()
	h.bar = widgets.NewBar(h.run, h.resume, h.pause, h.stop, h.seeds, h.edit, h.report, h.export).Rarely(h.text, h.forget)
	title := container.NewBorder(nil, nil, nil, h.badge, h.title)
	h.content = form.NewStack(title, h.line, h.bar, container.NewBorder(nil, nil, nil, container.NewVBox(h.reveal), h.said))
	return h
}

// show shows an experiment. busy says that an order is on its way.
func (h *head) show(e *Entry, d *Details, busy bool) {
	look := looks[e.State]
	h.title.Set(e.Title, widgets.Neutral)
	h.badge.Set(look.word, look.tone)
	text := e.line()
	if e.State == Ready && d != nil && d.Forecast != "" {
		text = d.Forecast
	}
	h.line.SetText(text)
	if e.Problem != "" {
		h.line.SetWarning(e.Problem)
	}
	begun := e.Done > 0
	active := e.State == Queued || e.State == Running || e.State == Paused
	h.bar.Offer(h.run, e.State == Ready || e.State == Broken)
	h.bar.Offer(h.resume, e.State == Partial || e.State == Paused)
	h.bar.Offer(h.pause, e.State == Running)
	h.bar.Offer(h.stop, active || e.State == Stopping)
	enable(h.run, !busy && e.State == Ready)
	enable(h.resume, !busy)
	enable(h.pause, !busy)
	enable(h.stop, !busy)
	h.stop.SetText(map[bool]string{false: "Stop", true: "Stop now"}[e.State == Stopping]) // without the sessions in progress
	enable(h.seeds, !busy && e.State != Broken && e.State != Stopping)
	enable(h.report, !busy && begun)
	enable(h.export, !busy && begun)
	enable(h.forget, !busy && !active && e.State != Stopping)
}

func enable(b *widget.Button, enabled bool) {
	switch {
	case enabled && b.Disabled():
		b.Enable()
	case !enabled && !b.Disabled():
		b.Disable()
	}
}
