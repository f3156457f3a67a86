package scenario

import (
	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
)

// cellValue returns a cell as data. It must not be missing.
func cellValue(c people.Cell) value.Value {
	switch c.Kind {
	case people.Bool:
		return starlark.Bool(c.Int != 0)
	case people.Int:
		return starlark.MakeInt64(c.Int)
	case people.Float:
		return float(c.Float)
	case people.String:
	}
	return starlark.String(c.Text)
}
