package show

import (
	"fmt"
	"io"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/visible"
)

// Pairing writes what keeps runs with the same seed from sharing their luck.
func Pairing(w io.Writer, all []experiment.Warning) {
	if len(all) == 0 {
		fmt.Fprintln(w, "\nRuns with the same seed share their luck at every value of the parameters")
		return
	}
	fmt.Fprintln(w, "\nRuns with the same seed do not share their luck here:")
	for _, one := range all {
		fmt.Fprintf(w, "  %s:%d:%d: %s\n", visible.Line(one.File), one.Line, one.Col, visible.Line(one.Reason))
		if one.Hint != "" {
			fmt.Fprintf(w, "    = %s\n", visible.Line(one.Hint))
		}
	}
}
