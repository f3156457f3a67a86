package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func TestPresetFor(t *testing.T) {
	const gb = 1 << 30
	tests := []struct {
		cores  int
		memory uint64
		want   string
	}{
		{2, 4 * gb, "laptop"},
		{4, 8 * gb, "laptop"},
		{4, 64 * gb, "laptop"},
		{8, 8 * gb, "laptop"},
		{8, 15.5 * gb, "desktop"},
		{10, 32 * gb, "desktop"},
		{16, 31 * gb, "workstation"},
		{16, 128 * gb, "workstation"},
		{64, 256 * gb, "server"},
		{64, 0, "server"},
		{0, 0, "laptop"},
	}
	for _, tt := range tests {
		if got := engine.PresetFor(tt.cores, tt.memory); got.Name != tt.want {
			t.Errorf("%d cores and %d bytes are a %s, want %s", tt.cores, tt.memory, got.Name, tt.want)
		}
	}
}

// TestLargerMachineAllowsMore checks that more cores or memory never lower the preset.
func TestLargerMachineAllowsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores, memory := rapid.IntRange(1, 100).Draw(t, "cores"), rapid.Uint64Range(1, 1<<38).Draw(t, "memory")
		less := engine.PresetFor(cores, memory)
		more := engine.PresetFor(cores+rapid.IntRange(0, 100).Draw(t, "more cores"), memory+rapid.Uint64Range(0, 1<<38).Draw(t, "more memory"))
		if more.High < less.High {
			t.Errorf("%s after %s", more.Name, less.Name)
		}
	})
}

func TestPresetsInWords(t *testing.T) {
	if got := engine.Systems[3].Span(); got != "16–32 and up" {
		t.Errorf("a server allows %q", got)
	}
	if got := engine.Uses[0].Span(); got != "2–4" {
		t.Errorf("testing allows %q", got)
	}
	if got := engine.Deployments[1].Span(); got != "50" {
		t.Errorf("a medium deployment allows %q", got)
	}
	want := "This machine, vm: 2 cores, is a laptop: 2–4 concurrent simulations. " + engine.PresetsAre
	if got := engine.Systems[0].Suits("vm: 2 cores"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	low, high := engine.Systems[3].Within(engine.Uses[1])
	if low != 4 || high != 8 {
		t.Errorf("research on a server begins with %d to %d", low, high)
	}
}
