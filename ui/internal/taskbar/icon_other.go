//go:build !darwin && !linux

package taskbar

type platform struct{}

func newPlatform(string, []byte) platform { return platform{} }

func (platform) draw(int) {}
