package awake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names of the login manager of systemd and of compatible ones (org.freedesktop.login1(5)).
const (
	loginName    = "org.freedesktop.login1"
	loginPath    = "/org/freedesktop/login1"
	loginInhibit = "org.freedesktop.login1.Manager.Inhibit"
)

// answerTime is the timeout for the bus and the login manager.
const answerTime = 2 * time.Second

func hold(why string) (func(), string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return inhibit(ctx, why)
}

// inhibit takes an inhibitor lock from the login manager. The lock is a file: closing it, or ending the process, releases
// it.
func inhibit(ctx context.Context, why string) (func(), string, error) {
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, "", fmt.Errorf("%w: there is no system bus: %w", ErrNone, err)
	}
	defer func() { _ = bus.Close() }() // the lock outlives the connection
	var lock dbus.UnixFD
	err = bus.Object(loginName, loginPath).CallWithContext(ctx, loginInhibit, 0, "idle:sleep", "Throng", why, "block").Store(&lock)
	var refused dbus.Error
	switch {
	case errors.As(err, &refused) && (refused.Name == "org.freedesktop.DBus.Error.ServiceUnknown" || refused.Name == "org.freedesktop.DBus.Error.NameHasNoOwner"):
		return nil, "", fmt.Errorf("%w: %w", ErrNone, err)
	case err != nil:
		return nil, "", fmt.Errorf("the login manager does not keep the machine awake: %w", err)
	}
	file := os.NewFile(uintptr(lock), "sleep lock")
	var once sync.Once
	return func() { once.Do(func() { _ = file.Close() }) }, "a lock of the login manager", nil
}
