package words

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestParagraphIsAsHighAsItsLines checks that a paragraph is as high as its lines, so that the text below does not
// cover the last one.
func TestParagraphIsAsHighAsItsLines(t *testing.T) {
	test.NewTempApp(t)
	win := test.NewWindow(widget.NewLabel(""))
	win.Resize(fyne.NewSize(800, 600))
	p := NewParagraph(win, "A short line.\nAnother.\n\n"+strings.Repeat("many words and ", 12))
	if got, least := p.MinSize().Height, widget.NewLabel("1\n2\n3\n4\n5").MinSize().Height; got < least {
		t.Errorf("three lines and one that wraps are %v high, less than five lines, %v", got, least)
	}
}
