package ui

import "github.com/throng-sim/throng/ui/internal/skin"

// Look is the theme of the windows.
type Look = skin.Look

// NewLook returns the theme for a choice of the settings: "light", "dark", or the system's.
func NewLook(choice string) *Look { return skin.New(choice) }
