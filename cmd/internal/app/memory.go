package app

import (
	"os"
	"runtime/debug"

	"github.com/throng-sim/throng/engine"
)

// memoryBase is what the process takes besides what the memory budget counts, roughly.
const memoryBase = 512 << 20

// memoryBudget is how many bytes the run's large answers and its agents' memories may take; 0 is no bound. The runtime
// collects garbage sooner as the process comes near it, unless GOMEMLIMIT says when.
func (l assembly) memoryBudget() int64 {
	budget := l.Settings.Memory.Of(engine.MachineMemory())
	if budget > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget + budget/2 + memoryBase)
	}
	return budget
}
