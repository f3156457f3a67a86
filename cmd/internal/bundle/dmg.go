package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/image/vector"
)

// dmgTool draws the window of a disk image without the Finder, which a build machine has no screen for (dmgbuild.readthedocs.io).
const dmgTool = "dmgbuild"

// The window of the disk image, in points: its size with the title bar, and the centers of the icons.
const (
	dmgWidth, dmgHeight = 640, 400
	dmgIcon             = 128
	dmgAppX, dmgLinkX   = 160, 480
	dmgIconY            = 180
)

// makeImage makes a disk image with an application and a link to the Applications folder. Without the tool, the window is the Finder's own.
func makeImage(ctx context.Context, j job, work, app, path string) error {
	name := j.app.Details.Name
	if _, err := exec.LookPath(dmgTool); err == nil {
		settings, err := dmgSettings(name, app, filepath.Join(work, "window"))
		if err != nil {
			return err
		}
		_, err = run(ctx, work, dmgTool, "-s", settings, name, path)
		return err
	}
	fmt.Println("the window of the disk image is not drawn: that takes " + dmgTool + " (pipx install " + dmgTool + ")")
	stage := filepath.Join(work, name)
	if err := errors.Join(os.Mkdir(stage, 0o755), os.Rename(app, filepath.Join(stage, filepath.Base(app))), os.Symlink("/Applications", filepath.Join(stage, "Applications"))); err != nil {
		return err
	}
	_, err := run(ctx, work, "hdiutil", "create", "-volname", name, "-srcfolder", stage, "-ov", "-format", "UDZO", path)
	return err
}

// dmgContent is an item of the window.
type dmgContent struct {
	X    int    `json:"x"`
	Y    int    `json:"y"`
	Type string `json:"type"`
	Path string `json:"path"`
	Hide bool   `json:"hide_extension"`
}

// dmgSettings writes the tool's settings and the background into a folder, and returns the path of the settings. They have the format of
// appdmg, which the tool reads too. It finds the background for screens of high density by its name.
func dmgSettings(name, app, dir string) (string, error) {
	var window struct {
		Position struct {
			X int `json:"x"`
			Y int `json:"y"`
		} `json:"position"`
		Size struct {
			Width  int `json:"width"`
			Height int `json:"height"`
		} `json:"size"`
	}
	window.Position.X, window.Position.Y = 200, 400 // from the lower left corner of the screen
	window.Size.Width, window.Size.Height = dmgWidth, dmgHeight
	background := filepath.Join(dir, "background.png")
	text, err := json.MarshalIndent(map[string]any{
		"title": name, "icon": filepath.Join(app, "Contents", "Resources", "icon.icns"), "background": background,
		"icon-size": dmgIcon, "window": window, "format": "UDZO",
		"contents": []dmgContent{{dmgAppX, dmgIconY, "file", app, true}, {dmgLinkX, dmgIconY, "link", "/Applications", false}},
	}, "", "  ")
	if err != nil {
		return "", err
	}
	settings := filepath.Join(dir, "settings.json")
	if err := writeFile(settings, text, 0o644); err != nil {
		return "", err
	}
	for path, scale := range map[string]int{background: 1, filepath.Join(dir, "background@2x.png"): 2} {
		var picture bytes.Buffer
		if err := png.Encode(&picture, dmgBackground(scale)); err != nil {
			return "", err
		}
		if err := writeFile(path, picture.Bytes(), 0o644); err != nil {
			return "", err
		}
	}
	return settings, nil
}

// The background, from top to bottom. The Finder writes the names on it in black or white, so both must be readable.
var (
	dmgTop    = color.RGBA{114, 128, 150, 255}
	dmgBottom = color.RGBA{94, 108, 130, 255}
	dmgArrow  = color.RGBA{235, 240, 247, 255}
)

// dmgBackground draws the background with an arrow from the application to the folder.
func dmgBackground(scale int) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, dmgWidth*scale, dmgHeight*scale))
	for y := range to.Rect.Max.Y {
		mix := func(a, b uint8) uint8 { return uint8((int(a)*(to.Rect.Max.Y-y) + int(b)*y) / to.Rect.Max.Y) }
		line := color.RGBA{mix(dmgTop.R, dmgBottom.R), mix(dmgTop.G, dmgBottom.G), mix(dmgTop.B, dmgBottom.B), 255}
		for x := range to.Rect.Max.X {
			to.SetRGBA(x, y, line)
		}
	}
	const (
		left, right = (dmgAppX+dmgLinkX)/2 - 58, (dmgAppX+dmgLinkX)/2 + 58
		shaft, head = 6, 24 // half the heights
	)
	pen := vector.NewRasterizer(to.Rect.Max.X, to.Rect.Max.Y)
	for i, p := range [][2]float32{
		{left, dmgIconY - shaft},
		{right - 1.5*head, dmgIconY - shaft},
		{right - 1.5*head, dmgIconY - head},
		{right, dmgIconY},
		{right - 1.5*head, dmgIconY + head},
		{right - 1.5*head, dmgIconY + shaft},
		{left, dmgIconY + shaft},
	} {
		if x, y := p[0]*float32(scale), p[1]*float32(scale); i == 0 {
			pen.MoveTo(x, y)
		} else {
			pen.LineTo(x, y)
		}
	}
	pen.ClosePath()
	pen.Draw(to, to.Rect, image.NewUniform(dmgArrow), image.Point{})
	return to
}
