package view

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/batches"
)

// Batches describes the model calls of a service that wait for batches, with the latest time of the answers; "" if none do.
func Batches(b *batches.State) string {
	if b == nil {
		return ""
	}
	text := ""
	if b.Open > 0 {
		text = fmt.Sprintf("%s in %s", engine.Counted(int64(b.Calls), "call", "calls"), engine.Counted(int64(b.Open), "batch", "batches"))
		if !b.Due.IsZero() {
			text += ", due by " + b.Due.Local().Format(dueFormat)
		}
	}
	if b.Gathering > 0 {
		if text != "" {
			text += "; "
		}
		text += engine.Counted(int64(b.Gathering), "call", "calls") + " for the next batch"
	}
	if b.Trouble != "" {
		text += "; the provider: " + b.Trouble
	}
	return text
}

const dueFormat = "2006-01-02 15:04"
