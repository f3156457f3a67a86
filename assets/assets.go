// Package assets embeds scenarios, the guide, pictures, prices and the icon.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed scenarios guide grafana
//go:embed pictures/agents.png pictures/live.png pictures/results.png pictures/runs.png pictures/setup.png
var files embed.FS

//go:embed prices.json
var prices []byte

//go:embed icon.png
var icon []byte

// Gallery lists the files of the built-in scenarios, in display order.
var Gallery = []string{"shopping.yaml", "conversation.yaml", "world.yaml", "analysis.ai", "study.yaml"}

// Templates lists the files of the templates for new scenarios, in the folder of the built-in scenarios, in display order.
var Templates = []string{
	"templates/journey.yaml", "templates/conversation.yaml", "templates/world.yaml", "templates/parallel.yaml", "templates/rules.yaml",
}

// Scenarios returns the folder of the built-in scenarios and the files they refer to.
func Scenarios() fs.FS {
	sub, err := fs.Sub(files, "scenarios")
	if err != nil { // the folder is embedded above
		panic(err)
	}
	return sub
}

// Prices returns the table of model prices, in the format of LiteLLM's model_prices_and_context_window.json. The caller must
// not change it.
func Prices() []byte { return prices }

// Dashboard returns the Grafana dashboard.
func Dashboard() []byte {
	text, err := files.ReadFile("grafana/throng.json")
	if err != nil { // it is embedded above
		panic(err)
	}
	return text
}

// Icon returns the icon of the program, a PNG of 1024 by 1024 pixels, drawn from icon.svg. The caller must not change it.
func Icon() []byte { return icon }
