package awake

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/windows"
)

// Flags of SetThreadExecutionState (winbase.h).
const (
	esSystemRequired = 0x00000001
	esContinuous     = 0x80000000
)

var setThreadExecutionState = windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")

// hold sets the execution state of a dedicated thread. The state lasts as long as the thread.
func hold(string) (func(), string, error) {
	if err := setThreadExecutionState.Find(); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	held, end, gone := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		was, _, err := setThreadExecutionState.Call(esContinuous | esSystemRequired)
		if was == 0 { // otherwise err has the previous error code
			held <- fmt.Errorf("Windows does not keep the machine awake: %w", err)
			return
		}
		held <- nil
		<-end
		_, _, _ = setThreadExecutionState.Call(esContinuous)
	}()
	if err := <-held; err != nil {
		return nil, "", err
	}
	var once sync.Once
	return func() { once.Do(func() { close(end); <-gone }) }, "the state of a thread", nil
}
