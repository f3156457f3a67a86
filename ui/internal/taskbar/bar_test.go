package taskbar

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/throng-sim/throng/assets"
)

// TestTile checks how much of the bar is filled, and that the icon is left above it.
func TestTile(t *testing.T) {
	for _, c := range []struct{ percent, want int }{{-1, 0}, {0, 0}, {50, 50}, {100, 100}, {140, 100}} {
		text, err := tile(assets.Icon(), c.percent)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := png.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		filled, wide := 0, 0
		for x := range tileSize {
			switch drawn.At(x, tileSize*83/100) {
			case barFilled:
				filled++
				wide++
			case barGround:
				wide++
			}
		}
		if wide < tileSize/2 || filled*100/wide < c.want-1 || filled*100/wide > c.want+1 {
			t.Errorf("at %d%%, %d of %d pixels are filled", c.percent, filled, wide)
		}
		if _, _, _, a := drawn.At(tileSize/2, tileSize/2).RGBA(); a != 0xffff {
			t.Errorf("at %d%%, there is no icon", c.percent)
		}
	}
	if _, err := tile([]byte("no picture"), 1); err == nil {
		t.Error("text was drawn as an icon")
	}
}
