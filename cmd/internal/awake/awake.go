// Package awake keeps the machine awake during a run. The screen may turn off.
package awake

import "errors"

// ErrNone means that this system has no way to keep the machine awake. Such systems usually do not sleep either.
var ErrNone = errors.New("nothing here can keep the machine awake")

// Hold keeps the machine awake until release is called or the process ends; how names the mechanism. The system shows why to
// users. Hold takes a moment, and release may be called more than once. A run can start despite an error, which wraps
// ErrNone if the system has no mechanism.
func Hold(why string) (release func(), how string, err error) { return hold(why) }
