package taskbar

import (
	"strconv"

	"github.com/ebitengine/purego/objc"
)

// platform is the tile in the Dock.
type platform struct{}

func newPlatform(string) platform { return platform{} }

// draw shows the percentage as the badge of the tile (NSDockTile.badgeLabel).
func (platform) draw(percent int) {
	label := ""
	if percent != none {
		label = strconv.Itoa(percent) + "%"
	}
	text := objc.ID(objc.GetClass("NSString")).Send(objc.RegisterName("stringWithUTF8String:"), label)
	objc.ID(objc.GetClass("NSApplication")).Send(objc.RegisterName("sharedApplication")).Send(objc.RegisterName("dockTile")).
		Send(objc.RegisterName("setBadgeLabel:"), text)
}
