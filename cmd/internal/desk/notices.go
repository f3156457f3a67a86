package desk

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/ui/settings"
)

// Hook returns the web hook without its address.
func (d settingsDesk) Hook(context.Context) (settings.Hook, error) {
	n, err := config.FindNotify("", os.Getenv, d.data)
	h := settings.Hook{Kind: string(n.Kind), Host: n.Host(), From: n.From, Asks: n.Asks}
	if keychain := secrets.KeychainProblem(); keychain != nil {
		h.Keychain = keychain.Error()
	}
	for _, k := range notice.Kinds {
		h.Kinds = append(h.Kinds, settings.HookKind{Name: string(k.Kind), Title: k.Title})
	}
	return h, err
}

// TestHook sends a test notification, and returns the server's response. An empty address is the current one.
func (d settingsDesk) TestHook(ctx context.Context, kind, url string) (string, error) {
	n, err := config.FindNotify("", os.Getenv, d.data)
	if url != "" {
		n.Asks = false
		n.Target, err = hookOf(kind, url)
	} else if kind != "" {
		n.Kind = notice.Kind(kind)
	}
	if err != nil {
		return "", err
	}
	return n.Try(ctx)
}

// SaveHook saves the web hook; an empty address deletes it.
func (d settingsDesk) SaveHook(_ context.Context, kind, url string) error {
	var target notice.Target
	if url != "" {
		var err error
		if target, err = hookOf(kind, url); err != nil {
			return err
		}
	}
	err := config.SaveNotify(d.data, target)
	if unkept, ok := errors.AsType[*secrets.UnkeptError](err); ok {
		return fmt.Errorf("notifications are sent there, but the address is %w", unkept)
	}
	return err
}

// hookOf returns the target for an address; "" detects the kind from the host.
func hookOf(kind, url string) (notice.Target, error) {
	if kind != "" {
		url = kind + ":" + url
	}
	return notice.ParseTarget(url)
}

// LogLevel returns the log level and all levels.
func (d settingsDesk) LogLevel() (level string, all []string) {
	level, _ = config.LogLevel(d.data)
	return level, config.LogLevels
}

// SetLogLevel changes the log level.
func (d settingsDesk) SetLogLevel(_ context.Context, level string) error {
	if err := config.Save(d.data, map[string]string{config.LogLevelKey: level}); err != nil {
		return err
	}
	if d.level != nil {
		_, now := config.LogLevel(d.data)
		d.level.Set(now)
	}
	return nil
}
