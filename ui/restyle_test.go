package ui

import (
	"bytes"
	"image"
	"testing"
)

// TestRestyledLikeTheToolkit draws each screen in another look, and then has the toolkit apply this look to all of it. Nothing changes.
func TestRestyledLikeTheToolkit(t *testing.T) {
	q, a, _ := start(t, &desk{})
	drawn := func() []byte {
		q.Drain()
		return a.win.Canvas().Capture().(*image.NRGBA).Pix
	}
	for _, p := range a.pages {
		a.show(p)
		before := drawn()
		for _, change := range []func(){
			func() { a.setTheme("light") }, func() { a.setScale(1.4) }, func() { a.setTheme("dark") }, func() { a.setScale(1) },
		} {
			change()
			got := drawn()
			if bytes.Equal(before, got) {
				t.Errorf("%s looks the same after a change", p.title)
			}
			a.app.Settings().SetTheme(a.look().Theme)
			if !bytes.Equal(drawn(), got) {
				t.Errorf("%s differs from the toolkit's, with text at %v", p.title, a.choices.scale)
			}
			before = got
		}
	}
}
