package taskbar

import (
	"log/slog"
	"strconv"

	"github.com/ebitengine/purego/objc"
)

// platform is the tile in the Dock.
type platform struct{ icon []byte }

func newPlatform(_ string, icon []byte) platform { return platform{icon} }

// draw shows the percentage as the badge of the tile (NSDockTile.badgeLabel), and a picture of the icon with a bar in place of the icon
// (NSDockTile.contentView).
func (p platform) draw(percent int) {
	dock := objc.ID(objc.GetClass("NSApplication")).Send(objc.RegisterName("sharedApplication")).Send(objc.RegisterName("dockTile"))
	label := ""
	if percent != none {
		label = strconv.Itoa(percent) + "%"
	}
	dock.Send(objc.RegisterName("setBadgeLabel:"), objc.ID(objc.GetClass("NSString")).Send(objc.RegisterName("stringWithUTF8String:"), label))
	view := p.view(percent)
	dock.Send(objc.RegisterName("setContentView:"), view) // nil is the icon
	view.Send(objc.RegisterName("release"))
	dock.Send(objc.RegisterName("display"))
}

// view returns a new image view with the icon and the bar; nil without progress.
func (p platform) view(percent int) objc.ID {
	if percent == none || len(p.icon) == 0 {
		return 0
	}
	drawn, err := tile(p.icon, percent)
	if err != nil {
		slog.Debug("the Dock does not show a bar", "error", err)
		return 0
	}
	data := objc.ID(objc.GetClass("NSData")).Send(objc.RegisterName("dataWithBytes:length:"), &drawn[0], uint(len(drawn))) // copied
	image := objc.ID(objc.GetClass("NSImage")).Send(objc.RegisterName("alloc")).Send(objc.RegisterName("initWithData:"), data)
	view := objc.ID(objc.GetClass("NSImageView")).Send(objc.RegisterName("new"))
	view.Send(objc.RegisterName("setImage:"), image)
	image.Send(objc.RegisterName("release"))
	return view
}
