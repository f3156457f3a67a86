package app

// What the program is called; FyneApp.toml, which the packaging reads, says the same.
const (
	AppID      = "io.github.throng-sim.throng"
	AppName    = "Throng"
	AppVersion = "0.1.0"
)

// DataEnv is the environment variable that names the data folder.
const DataEnv = "THRONG_DATA"
