package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Notice is a sentence with an icon that shows a success or an error. Its text wraps and can be copied.
type Notice struct {
	widget.BaseWidget
	icon  *widget.Icon
	label *widget.Label
}

// NewNotice returns a hidden, empty notice.
func NewNotice() *Notice {
	n := &Notice{icon: widget.NewIcon(nil), label: widget.NewLabel("")}
	n.label.Wrapping = fyne.TextWrapWord
	n.label.Selectable = true
	n.ExtendBaseWidget(n)
	n.Hide()
	return n
}

// Say sets the sentence if it differs; an empty one hides the notice.
func (n *Notice) Say(text string, tone Tone) {
	look := noticeLooks[tone]
	if n.label.Text == text && n.label.Importance == look.importance {
		return
	}
	n.label.Text, n.label.Importance = text, look.importance
	n.label.Refresh()
	var icon fyne.Resource
	if look.icon != "" {
		icon = theme.NewColoredResource(theme.Icon(look.icon), tone.Color())
	}
	n.icon.Hidden = icon == nil
	n.icon.SetResource(icon)
	if text == "" {
		n.Hide()
	} else {
		n.Show()
		n.Refresh()
	}
}

// Text returns the sentence.
func (n *Notice) Text() string { return n.label.Text }

var noticeLooks = [...]struct {
	importance widget.Importance
	icon       fyne.ThemeIconName
}{
	Neutral: {widget.MediumImportance, ""},
	Quiet:   {widget.MediumImportance, ""},
	Accent:  {widget.MediumImportance, theme.IconNameInfo},
	Good:    {widget.MediumImportance, theme.IconNameConfirm},
	Warning: {widget.WarningImportance, theme.IconNameWarning},
	Bad:     {widget.DangerImportance, theme.IconNameError},
}

// CreateRenderer implements [fyne.Widget].
func (n *Notice) CreateRenderer() fyne.WidgetRenderer {
	return &noticeRenderer{notice: n, objects: []fyne.CanvasObject{n.icon, n.label}}
}

type noticeRenderer struct {
	notice  *Notice
	objects []fyne.CanvasObject
}

func (r *noticeRenderer) Destroy()                     {}
func (r *noticeRenderer) Objects() []fyne.CanvasObject { return r.objects }

// indent returns the width at the left of the text.
func (r *noticeRenderer) indent() float32 {
	if r.notice.icon.Hidden {
		return 0
	}
	return theme.IconInlineSize() + theme.Padding()
}

// slack is the excess of a label's padding over a notice's.
func slack() float32 { return theme.InnerPadding() - theme.Padding()/2 }

func (r *noticeRenderer) MinSize() fyne.Size {
	size := r.notice.label.MinSize()
	return fyne.NewSize(r.indent()+size.Width, size.Height-2*slack())
}

// Layout compensates for the padding of a label.
func (r *noticeRenderer) Layout(size fyne.Size) {
	indent, side := r.indent(), theme.IconInlineSize()
	line := fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height + theme.Padding()
	r.notice.icon.Move(fyne.NewPos(0, (line-side)/2))
	r.notice.icon.Resize(fyne.NewSquareSize(side))
	r.notice.label.Move(fyne.NewPos(indent-theme.InnerPadding(), -slack()))
	r.notice.label.Resize(fyne.NewSize(size.Width-indent+2*theme.InnerPadding(), size.Height+2*slack()))
}

// Refresh does nothing, because the label refreshes itself.
func (r *noticeRenderer) Refresh() {
	r.Layout(r.notice.Size())
	canvas.Refresh(r.notice)
}
