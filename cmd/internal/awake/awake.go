// Package awake keeps the machine from falling asleep while a run goes on. The screen may go dark.
package awake

import "errors"

// ErrNone is that this system has nothing that could keep it awake: nothing puts it to sleep either, mostly.
var ErrNone = errors.New("nothing here can keep the machine awake")

// Hold keeps the machine awake until release is called or the process ends; how says by what. Why is shown to people who
// wonder. It takes a moment, and release may be called more than once. Its error is no reason not to run; it wraps
// ErrNone where there is nothing to ask.
func Hold(why string) (release func(), how string, err error) { return hold(why) }
