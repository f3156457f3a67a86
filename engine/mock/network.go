package mock

import "github.com/throng-sim/throng/engine/mock/wire"

// Types that the mocks share with other mock servers.
type (
	// Profile is a latency profile.
	Profile = wire.Profile
	// Faults are the fractions of requests that fail.
	Faults = wire.Faults
	// Fault is a failure that the mock injects into a request.
	Fault = wire.Fault
)

// The profiles and faults.
const (
	ProfileNone   = wire.ProfileNone
	ProfileLocal  = wire.ProfileLocal
	ProfileRemote = wire.ProfileRemote
	ProfileSlow   = wire.ProfileSlow

	FaultNone        = wire.FaultNone
	FaultRateLimited = wire.FaultRateLimited
	FaultServerError = wire.FaultServerError
	FaultHang        = wire.FaultHang
	FaultCut         = wire.FaultCut
	FaultBadBody     = wire.FaultBadBody
	FaultOutage      = wire.FaultOutage
)

// ParseProfile returns the profile with that name: none, local, remote or slow.
func ParseProfile(name string) (Profile, error) { return wire.ParseProfile(name) }
