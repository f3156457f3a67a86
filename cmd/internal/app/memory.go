package app

import (
	"os"
	"runtime/debug"

	"github.com/throng-sim/throng/engine/machine"
)

// memoryBase is roughly the memory of the process that the memory budget does not count.
const memoryBase = 512 << 20

// memoryBudget returns the bytes that large answers and agents' memories of the run may use; 0 is unlimited. It also sets
// the runtime's soft memory limit, unless GOMEMLIMIT is set, and tunes the heap until the run is closed.
func (l assembly) memoryBudget(j *Job) int64 {
	release := machine.TuneHeap()
	j.onClose(func() error { release(); return nil })
	budget := l.Settings.Memory.Of(machine.TotalMemory())
	if budget > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget + budget/2 + memoryBase)
	}
	return budget
}
