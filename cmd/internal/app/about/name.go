// Package about says what the program is called, and which version of it runs.
package about

// What the program is called; FyneApp.toml, which the packaging reads, says the same.
const (
	ID     = "io.github.throng-sim.throng"
	Name   = "Throng"
	Number = "0.1.0"
)

// DataEnv is the environment variable that names the data folder.
const DataEnv = "THRONG_DATA"
