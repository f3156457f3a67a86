package main

import (
	"errors"
	"fmt"
	"strings"
)

const usage = `Usage: throng [FILE]

Open the window, with a scenario file if one is given.

  --data FOLDER  Keep runs and settings in this folder (default: THRONG_DATA, or the system's data folder).
  --version      Show the version.
  -h, --help     Show this help.

In a terminal, use throngctl: throngctl --help`

// arguments are the parsed command-line arguments.
type arguments struct {
	file, data    string
	help, version bool
}

// parse parses the command-line arguments; data is the default data folder.
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
				return a, errors.New("--data needs a folder, for example --data ./runs")
			}
			a.data = value
		case strings.HasPrefix(args[i], "-psn_"): // older versions of macOS add it
		case strings.HasPrefix(args[i], "-") && len(args[i]) > 1:
			return a, fmt.Errorf("unknown flag %s", args[i])
		case a.file != "":
			return a, fmt.Errorf("unexpected argument %s: throng opens one scenario at a time", args[i])
		default:
			a.file = args[i]
		}
	}
	return a, nil
}
