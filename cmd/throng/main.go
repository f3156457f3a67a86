// Command throng opens the window.
package main

import (
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/desk"
	"github.com/throng-sim/throng/cmd/internal/opened"
	"github.com/throng-sim/throng/cmd/internal/wire"
)

func main() {
	if dir, err := os.UserCacheDir(); err == nil { // the toolkit makes its folder there, but not the one above
		_ = os.MkdirAll(dir, 0o700) // it says so if it cannot
	}
	icon := fyne.NewStaticResource("throng.png", assets.Icon())
	app.SetMetadata(fyne.AppMetadata{ID: wire.AppID, Name: wire.AppName, Version: wire.AppVersion, Icon: icon})
	a := app.NewWithID(wire.AppID)
	a.SetIcon(icon)
	start := desk.Start{Data: os.Getenv(wire.DataEnv), Files: opened.Files(), Attach: attach, Blind: blind}
	if len(os.Args) > 1 {
		start.File = os.Args[1]
	}
	os.Exit(desk.Show(a, start))
}
