//go:build !linux

package alarm

import "time"

// bell is not needed on systems whose runtime sleeps precisely.
type bell struct{}

func newBell() *bell            { return nil }
func (*bell) set(time.Duration) {}
func (*bell) wait() bool        { return false }
func (*bell) close()            {}
