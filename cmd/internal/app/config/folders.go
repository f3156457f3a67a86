package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Files and folders of the data folder with what a person chose for all runs.
const (
	savedName       = "settings.json" // the saved settings
	PricesName      = "prices.json"   // prices of models, which go before those of the program
	ConnectorsName  = "connectors.yaml"
	PopulationsName = "populations" // folder of the populations that models wrote
)

// chosenName is the file in the usual data folder that says where the data is instead.
const chosenName = "folder"

// DataFolder is where Throng keeps its store: the folder that a person has chosen, or the usual one of the system.
// Never the working directory, which is / for a double-clicked program.
func DataFolder() (string, error) {
	usual, err := usualFolder()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(usual, chosenName))
	if chosen := strings.TrimSpace(string(text)); err == nil && filepath.IsAbs(chosen) {
		return chosen, nil
	}
	return usual, nil
}

// ChooseDataFolder makes another folder the data folder from the next start on; nothing is moved or deleted.
func ChooseDataFolder(dir string) error {
	usual, err := usualFolder()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".throng-*")
	if err != nil {
		return fmt.Errorf("%s cannot be the data folder: %w; choose one that can be written", dir, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	if err := os.MkdirAll(usual, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(usual, chosenName), []byte(dir+"\n"), 0o600)
}

func usualFolder() (string, error) {
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

// ShopLog is where the mock of a run keeps its mutations.
func ShopLog(data string, run engine.RunID) string {
	return filepath.Join(data, "mock", string(run)+".log")
}
