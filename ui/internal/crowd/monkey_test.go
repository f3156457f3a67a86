package crowd

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// TestWhateverAPersonDoes checks that no sequence of inputs breaks the grid, and that the agent that opens is one on
// screen.
func TestWhateverAPersonDoes(t *testing.T) {
	g := show(t, sample(372))
	opened := none
	g.OnTapped = func(agent int) { opened = agent }
	keys := []fyne.KeyName{
		fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight, fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyReturn,
		fyne.KeyEscape, fyne.KeyTab,
	}
	at := func(t *rapid.T) fyne.PointEvent {
		return fyne.PointEvent{Position: fyne.NewPos(float32(rapid.IntRange(-20, 900).Draw(t, "x")), float32(rapid.IntRange(-20, 700).Draw(t, "y")))}
	}
	crowds := map[int][]engine.AgentState{}
	for _, n := range []int{0, 1, 372, 5000, 80_000} {
		crowds[n] = sample(n)
	}
	rapid.Check(t, func(t *rapid.T) {
		t.Repeat(map[string]func(*rapid.T){
			"crowd": func(t *rapid.T) { g.Set(crowds[rapid.SampledFrom([]int{0, 1, 372, 5000, 80_000}).Draw(t, "agents")]) },
			"only": func(t *rapid.T) {
				found := rapid.SliceOfDistinct(rapid.IntRange(0, 6000), rapid.ID[int]).Draw(t, "found")
				slices.Sort(found)
				g.Only(found)
			},
			"all":    func(*rapid.T) { g.Only(nil) },
			"light":  func(t *rapid.T) { g.Light(States(rapid.Uint16Range(0, 1<<engine.NumAgentStates-1).Draw(t, "lit"))) },
			"select": func(t *rapid.T) { g.Select(rapid.IntRange(-1, 6000).Draw(t, "agent")) },
			"tap":    func(t *rapid.T) { e := at(t); g.Tapped(&e) },
			"point":  func(t *rapid.T) { g.MouseMoved(&desktop.MouseEvent{PointEvent: at(t)}) },
			"leave":  func(*rapid.T) { g.MouseOut() },
			"key":    func(t *rapid.T) { g.press(rapid.SampledFrom(keys).Draw(t, "key")) },
			"rune":   func(t *rapid.T) { g.TypedRune(rapid.SampledFrom([]rune("+-0/x")).Draw(t, "rune")) },
			"focus":  func(*rapid.T) { g.FocusGained() },
			"unfocus": func(*rapid.T) {
				g.FocusLost()
				g.DragEnd()
			},
			"wheel": func(t *rapid.T) {
				g.Scrolled(&fyne.ScrollEvent{PointEvent: at(t), Scrolled: fyne.NewDelta(0, float32(rapid.IntRange(-30, 30).Draw(t, "by")))})
			},
			"drag": func(t *rapid.T) {
				g.Dragged(&fyne.DragEvent{PointEvent: at(t), Dragged: fyne.NewDelta(0, float32(rapid.IntRange(-300, 300).Draw(t, "by")))})
			},
			"size": func(t *rapid.T) {
				g.Resize(fyne.NewSize(float32(rapid.IntRange(1, 900).Draw(t, "w")), float32(rapid.IntRange(1, 700).Draw(t, "h"))))
			},
			"": func(t *rapid.T) {
				size := g.Size()
				g.draw(max(int(size.Width), 1), max(int(size.Height), 1))
				if opened != none && g.field.place(opened) == none {
					t.Fatalf("agent %d was opened and is not shown", opened)
				}
				opened = none
			},
		})
	})
}
