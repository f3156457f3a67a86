package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DataFolder is where Throng keeps its store: never the working directory, which is / for a double-clicked program.
func DataFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w; say where with --data", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "Throng"), nil
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "Throng"), nil
		}
		return filepath.Join(home, "AppData", "Local", "Throng"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "throng"), nil
	}
	return filepath.Join(home, ".local", "share", "throng"), nil
}
