package main

import (
	"errors"
	"fmt"
	"strings"
)

const usage = `throng opens the window, and throng FILE the window with a scenario.

  --data FOLDER  Keep runs and settings in this folder (default: THRONG_DATA, or the system's place for it).
  --version      Show the version.
  -h, --help     Show this help.

In a terminal throngctl does the same: throngctl --help`

// arguments are what the program was started with.
type arguments struct {
	file, data    string
	help, version bool
}

// parse reads the arguments of the command line; data is the folder where none is named.
func parse(args []string, data string) (a arguments, err error) {
	a.data = data
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "-h" || args[i] == "--help":
			a.help = true
		case args[i] == "--version":
			a.version = true
		case name == "--data":
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if value == "" {
				return a, errors.New("--data wants a folder, for example --data ./runs")
			}
			a.data = value
		case strings.HasPrefix(args[i], "-psn_"): // older versions of macOS add it
		case strings.HasPrefix(args[i], "-") && len(args[i]) > 1:
			return a, fmt.Errorf("unknown flag %s", args[i])
		case a.file != "":
			return a, fmt.Errorf("unexpected argument %s: one scenario can be opened at a time", args[i])
		default:
			a.file = args[i]
		}
	}
	return a, nil
}
