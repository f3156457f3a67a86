// Command throng opens the window.
package main

import (
	"fmt"
	"os"
	"runtime"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"github.com/go-gl/glfw/v3.4/glfw"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/desk"
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
		fmt.Fprintf(os.Stderr, "throng: no window can be opened here: %v\nIn a terminal throngctl does the same: throngctl run shopping\n", err)
		os.Exit(1)
	}
	if dir, err := os.UserCacheDir(); err == nil { // the toolkit makes its folder there, but not the one above
		_ = os.MkdirAll(dir, 0o700) // it says so if it cannot
	}
	icon := fyne.NewStaticResource("throng.png", assets.Icon())
	fyneapp.SetMetadata(fyne.AppMetadata{ID: about.ID, Name: about.Name, Version: about.Number, Icon: icon})
	a := fyneapp.NewWithID(about.ID)
	a.SetIcon(icon)
	start.Files, start.Attach = opened.Files(), attach
	os.Exit(desk.Show(a, start))
}

// displayed is why there is no display; on Linux there may be none. The toolkit would end in the middle of its work.
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
