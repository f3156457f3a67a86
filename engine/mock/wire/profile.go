package wire

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Profile is a latency profile. The zero value adds no latency.
type Profile uint8

// The profiles: none, local 1 to 5 ms, remote 50 to 150 ms, slow 0.5 to 2 s. Each token of a model's answer adds to it.
const (
	ProfileNone Profile = iota
	ProfileLocal
	ProfileRemote
	ProfileSlow
)

var profiles = map[Profile]struct {
	name     string
	min, max time.Duration
	token    time.Duration // of a model's answer
}{
	ProfileNone:   {"none", 0, 0, 0},
	ProfileLocal:  {"local", time.Millisecond, 5 * time.Millisecond, 100 * time.Microsecond},
	ProfileRemote: {"remote", 50 * time.Millisecond, 150 * time.Millisecond, 10 * time.Millisecond},
	ProfileSlow:   {"slow", 500 * time.Millisecond, 2 * time.Second, 40 * time.Millisecond},
}

// ParseProfile returns the profile with that name: none, local, remote or slow.
func ParseProfile(name string) (Profile, error) {
	for p, row := range profiles {
		if row.name == name {
			return p, nil
		}
	}
	return ProfileNone, fmt.Errorf("unknown latency profile %q; use none, local, remote or slow", name)
}

// String returns the profile's name.
func (p Profile) String() string {
	if row, ok := profiles[p]; ok {
		return row.name
	}
	return fmt.Sprintf("profile %d", uint8(p))
}

// Times returns the shortest and longest latency of an answer, and the time that each token of a model's answer adds.
func (p Profile) Times() (least, most, token time.Duration) {
	row := profiles[p]
	return row.min, row.max, row.token
}

// Known reports whether p is one of the profiles.
func (p Profile) Known() bool { _, known := profiles[p]; return known }

// PerToken returns the time that each token of a model's answer adds.
func (p Profile) PerToken() time.Duration { return profiles[p].token }

// Delay draws the latency of the request with this key.
func (p Profile) Delay(request draw.Key) time.Duration {
	if p == ProfileNone {
		return 0
	}
	row := profiles[p]
	return row.min + time.Duration(request.Text("latency").Source().Float64()*float64(row.max-row.min))
}
