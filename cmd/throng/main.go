// Command throng opens the window.
package main

import (
	"fmt"
	"os"
	"runtime"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/systray"
	"github.com/go-gl/glfw/v3.4/glfw"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/cmdline"
	"github.com/throng-sim/throng/cmd/internal/desk"
	"github.com/throng-sim/throng/cmd/internal/filedialog"
	"github.com/throng-sim/throng/cmd/internal/opened"
)

func main() {
	asked, err := parse(os.Args[1:], os.Getenv(about.DataEnv))
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "throng: %v\n%s\n", err, usage)
		os.Exit(2)
	case asked.help:
		fmt.Println(usage)
		return
	case asked.version:
		fmt.Println("throng", about.Read())
		return
	}
	start := desk.Start{File: asked.file, Data: asked.data}
	if err := displayed(); err != nil {
		fmt.Fprintf(os.Stderr, "throng: cannot open a window: %v\nUse throngctl in a terminal: throngctl run shopping\n", err)
		os.Exit(1)
	}
	if dir, err := os.UserCacheDir(); err == nil { // the toolkit creates its folder there, but not the parent
		_ = os.MkdirAll(dir, 0o700) // the toolkit reports an error
	}
	icon := fyne.NewStaticResource("throng.png", assets.Icon())
	fyneapp.SetMetadata(fyne.AppMetadata{ID: about.ID, Name: about.Name, Version: about.Number, Icon: icon})
	a := fyneapp.NewWithID(about.ID)
	a.SetIcon(icon)
	start.Files, start.Attach, start.Dialogs, start.IconText = opened.Files(), attach, filedialog.New(), systray.SetTitle
	if tool := cmdline.Find(); tool != nil {
		start.Tool = tool
	}
	os.Exit(desk.Show(a, start))
}

// displayed returns an error if there is no display, as can happen on Linux. The toolkit would otherwise fail later.
func displayed() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	if err := glfw.Init(); err != nil {
		return err
	}
	glfw.Terminate()
	return nil
}
