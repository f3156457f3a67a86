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

// Files and folders in the data folder with the user's choices for all runs.
const (
	savedName       = "settings.json" // the saved settings
	PricesName      = "prices.json"   // prices of models, which override the built-in ones
	ConnectorsName  = "connectors.yaml"
	PopulationsName = "populations" // folder of populations written by models
)

// chosenName is the file in the default data folder that holds the path of the chosen one.
const chosenName = "folder"

// DataFolder returns the folder of the store: the one that the user has chosen, or the default of the system. It is never
// the working directory, which is / if the program was started from the desktop.
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

// ChooseDataFolder changes the data folder from the next start on. It moves and deletes nothing.
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
		return fmt.Errorf("%s cannot be the data folder: %w; choose a writable folder", dir, err)
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
		return "", fmt.Errorf("find the home folder: %w; set the data folder with --data", err)
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

// ShopLog returns the path of the mock shop's log of a run.
func ShopLog(data string, run engine.RunID) string {
	return filepath.Join(data, "mock", string(run)+".log")
}

// apiLog ends the names of logs of mocks of OpenAPI documents.
const apiLog = ".api"

// APILog returns the path of the log of a service that is the mock of an OpenAPI document.
func APILog(data string, run engine.RunID, service string) string {
	return filepath.Join(data, "mock", string(run)+"."+service+apiLog)
}

// APILogs returns the logs of a run's mocks of OpenAPI documents, by service.
func APILogs(data string, run engine.RunID) map[string]string {
	all := map[string]string{}
	entries, _ := os.ReadDir(filepath.Join(data, "mock")) // without the folder there are none
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), string(run)+"."); ok && strings.HasSuffix(rest, apiLog) {
			all[strings.TrimSuffix(rest, apiLog)] = filepath.Join(data, "mock", e.Name())
		}
	}
	return all
}
