// Package about holds the name and the version of the program.
package about

// Names and version of the program; they must equal those in FyneApp.toml, which the packaging reads.
const (
	ID     = "io.github.throng-sim.throng"
	Name   = "Throng"
	Number = "0.1.0"
)

// DataEnv is the environment variable that names the data folder.
const DataEnv = "THRONG_DATA"

// JoinEnv is the environment variable with the join line of a fleet. Unlike an argument, other users of the machine cannot see it.
const JoinEnv = "THRONG_JOIN"

// LeashEnv is the environment variable that makes a worker end when its standard input ends, and leave Ctrl+C to the program that started
// it.
const LeashEnv = "THRONG_LEASH"
