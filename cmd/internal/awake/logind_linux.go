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

// The login manager of systemd, and of those that speak like it (org.freedesktop.login1(5)).
const (
	loginName    = "org.freedesktop.login1"
	loginPath    = "/org/freedesktop/login1"
	loginInhibit = "org.freedesktop.login1.Manager.Inhibit"
)

// answerTime is how long the bus and the login manager have.
const answerTime = 2 * time.Second

func hold(why string) (func(), string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return inhibit(ctx, why)
}

// inhibit asks the login manager for a lock, which is a file: closing it gives it back, as the end of the process does.
func inhibit(ctx context.Context, why string) (func(), string, error) {
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, "", fmt.Errorf("%w: there is no system bus: %w", ErrNone, err)
	}
	defer func() { _ = bus.Close() }() // the lock is not bound to it
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
