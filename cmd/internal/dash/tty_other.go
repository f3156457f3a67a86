//go:build !unix

package dash

import "os"

func inFront(*os.File) bool { return true }

func background(error) bool { return false }

func jobs() (resumed chan os.Signal, stop func()) { return make(chan os.Signal), func() {} }

func suspend(<-chan os.Signal) {}
