//go:build !linux

package alarm

import "time"

// bell is of no use where the runtime sleeps until the instant itself.
type bell struct{}

func newBell() *bell            { return nil }
func (*bell) set(time.Duration) {}
func (*bell) wait() bool        { return false }
func (*bell) close()            {}
