//go:build !darwin && !linux

package taskbar

type platform struct{}

func newPlatform(string) platform { return platform{} }

func (platform) draw(int) {}
