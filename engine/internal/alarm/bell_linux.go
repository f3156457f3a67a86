package alarm

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bell rings at an instant, by timerfd_create(2).
type bell struct {
	file *os.File
	raw  syscall.RawConn
}

// newBell returns nil if the process has no descriptors left, or if its time is not the system's.
func newBell() *bell {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil || time.Since(time.Unix(now.Unix())).Abs() > time.Second {
		return nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	b := &bell{file: os.NewFile(uintptr(fd), "alarm")}
	if b.raw, err = b.file.SyscallConn(); err != nil {
		_ = b.file.Close()
		return nil
	}
	return b
}

// set makes the bell ring once, after d, which must be positive.
func (b *bell) set(d time.Duration) {
	_ = b.raw.Control(func(fd uintptr) {
		_ = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	})
}

// wait waits for the bell to ring. It returns false after the bell was closed.
func (b *bell) wait() bool {
	var rings [8]byte
	_, err := b.file.Read(rings[:])
	return err == nil
}

func (b *bell) close() { _ = b.file.Close() }
