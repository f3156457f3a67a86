package main

import (
	"fmt"
	"io"

	"github.com/throng-sim/throng/engine/visible"
)

// rowf writes a row of a table whose cells are parted by tabs: texts of others keep to their cell.
func rowf(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = visible.Line(arg)
		case error:
			args[i] = visible.Line(arg.Error())
		case fmt.Stringer:
			args[i] = visible.Line(arg.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}
