package calibrate

import (
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// presetEms is the minimum width of a table of presets, in text heights.
const presetEms = 22

// sidePanel is the side panel: previous calibrations and presets.
type sidePanel struct {
	earlier, presets *widgets.Panel

	found   *widgets.Sheet
	trouble *widgets.Notice
	own     *form.Note
	systems *widgets.Sheet
	uses    *widgets.Sheet
	calls   *widgets.Sheet
}

func newSidePanel(open func(i int)) *sidePanel {
	end := fyne.TextAlignTrailing
	b := &sidePanel{trouble: widgets.NewNotice(), own: form.NewNote(engine.PresetsAre)}
	b.found = widgets.NewSheet([]widgets.Column{
		{Title: "Scenario", Sample: "Marketplace", Weight: 1}, {Title: "Measured", Sample: "28 Dec 23:59"}, {Title: "Limit", Sample: "1,000", Align: end},
	}, "No calibrations yet.", func(key string) {
		if i, err := strconv.Atoi(key); err == nil {
			open(i)
		}
	})
	table := func(title, what string) *widgets.Sheet {
		return widgets.NewSheet([]widgets.Column{
			{Title: title, Sample: "development"}, {Title: "", Sample: "3–5", Weight: 1}, {Title: what, Sample: "16–32 and up", Align: end},
		}, "", nil)
	}
	b.systems, b.uses, b.calls = table("Machine", "Limit"), table("Use", "Limit"), table("Models by", "Concurrent calls")
	b.systems.SetRows(presetRows(engine.Systems, ""))
	b.uses.SetRows(presetRows(engine.Uses, ""))
	b.calls.SetRows(presetRows(engine.Deployments, ""))
	rules := "Rules of thumb:\n· " + strings.Join(engine.RulesOfThumb, "\n· ")
	b.earlier = widgets.NewPanel("Previous calibrations", form.NewStack(b.trouble, b.found))
	b.presets = widgets.NewPanel("Presets", form.NewStack(b.own, form.NewColumns(presetEms, b.systems, b.uses, b.calls), form.NewNote(rules)))
	return b
}

// suit marks the preset of a machine.
func (b *sidePanel) suit(m Machine) {
	own := engine.PresetFor(m.Cores, m.Memory)
	b.own.SetText(own.Suits(m.Words))
	b.systems.SetRows(presetRows(engine.Systems, own.Name))
}

func presetRows(all []engine.Preset, own string) (rows []widgets.Row) {
	for _, p := range all {
		tone := widgets.Neutral
		if p.Name == own {
			tone = widgets.Accent
		}
		rows = append(rows, widgets.Row{Key: p.Name, Cells: []widgets.Cell{
			{Text: p.Name, Tone: tone}, {Text: p.Matches, Tone: widgets.Quiet}, {Text: p.Span(), Tone: tone},
		}})
	}
	return rows
}

// titleOf returns the title of a calibration, marked if other programs distorted it.
func titleOf(f *Found) string {
	if f.UnderLoad {
		return f.Title + " (under load)"
	}
	return f.Title
}

// list shows the previous calibrations.
func (b *sidePanel) list(all []Found, notice string, err error) {
	switch {
	case err != nil:
		b.trouble.Say(err.Error(), widgets.Bad)
	default:
		b.trouble.Say(notice, widgets.Warning)
	}
	var rows []widgets.Row
	for i := range all {
		f := &all[i]
		level := "–"
		if f.Level > 0 {
			level = engine.FormatCount(int64(f.Level))
		}
		rows = append(rows, widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
			{Text: titleOf(f)}, {Text: f.At.Local().Format("2 Jan 15:04"), Tone: widgets.Quiet}, {Text: level},
		}})
	}
	b.found.SetRows(rows)
}
