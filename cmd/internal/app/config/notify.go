package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// NotifyEnv is the environment variable with the address for notifications.
const NotifyEnv = "THRONG_NOTIFY_URL"

// notifyKey is the name of the setting for notifications. The saved settings hold the kind and the host of the address; the
// keychain holds the address.
const notifyKey = "notify"

const (
	notifyAccount = "notices" // keychain account of the address
	secretPrefix  = "secret:"
)

// Notify is a webhook for notifications. The zero value sends nothing.
type Notify struct {
	notice.Target
	From string // "--notify", NotifyEnv or "saved"
	Asks bool   // the saved address was lost when the program ended, and the user must enter it again
}

// describe returns the kind and the host, which are not secret.
func (n Notify) describe() string { return string(n.Kind) + " " + n.Host() }

// Origin returns the kind and the host, and the source of the setting.
func (n Notify) Origin() Origin {
	if n.URL == "" {
		return Origin{Value: "none", From: cmp.Or(n.From, "default")}
	}
	return Origin{Value: n.describe(), From: n.From}
}

// FindNotify resolves the webhook from a flag, the environment and the saved settings. The flag is an address, secret:NAME,
// or none. Mistakes are *engine.FieldError values.
func FindNotify(flag string, env func(string) string, data string) (Notify, error) {
	text, from := flag, "--notify"
	if text == "" {
		text, from = env(NotifyEnv), NotifyEnv
	}
	if text == "none" {
		return Notify{From: from}, nil
	}
	if text == "" {
		return savedNotify(data)
	}
	if name, ok := strings.CutPrefix(text, secretPrefix); ok {
		value, _, err := secrets.Finder{Env: env}.Find("notify", name)
		if err != nil {
			return Notify{}, err
		}
		text = value
	}
	target, err := notice.ParseTarget(text)
	if err != nil {
		return Notify{}, fmt.Errorf("%s: %w", from, err)
	}
	secrets.Use(text, target.URL)
	return Notify{Target: target, From: from}, nil
}

// savedNotify returns the saved webhook.
func savedNotify(data string) (Notify, error) {
	saved, err := LoadSaved(data)
	if err != nil || saved[notifyKey] == "" {
		return Notify{}, err
	}
	kind, host, _ := strings.Cut(saved[notifyKey], " ")
	n := Notify{Target: notice.Target{Kind: notice.Kind(kind), URL: "https://" + host}, From: fromSaved, Asks: true}
	address, _, err := secrets.Kept(notifyAccount)
	if err != nil {
		return n, nil //nolint:nilerr // Asks reports it
	}
	target, err := notice.ParseTarget(kind + ":" + address)
	if err != nil {
		return n, nil //nolint:nilerr // the same
	}
	secrets.Use(address)
	return Notify{Target: target, From: fromSaved}, nil
}

// SaveNotify saves a webhook: the address in the keychain, its kind and host with the settings. The zero value deletes both.
// Without a keychain, the address lasts until the program ends, and the error is a *secrets.UnkeptError.
func SaveNotify(data string, target notice.Target) error {
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	delete(saved, notifyKey)
	if target.URL != "" {
		saved[notifyKey] = Notify{Target: target}.describe()
		secrets.Use(target.URL)
	}
	if err := store(data, saved); err != nil {
		return err
	}
	return secrets.Store(notifyAccount, target.URL)
}

// saveNotifyText is [SaveNotify] with an address as text; "" deletes the saved one. Without a keychain, it saves nothing.
func saveNotifyText(data, text string) error {
	var target notice.Target
	if text != "" {
		var err error
		if target, err = notice.ParseTarget(text); err != nil {
			return err
		}
	}
	err := SaveNotify(data, target)
	if unkept, ok := errors.AsType[*secrets.UnkeptError](err); ok {
		return errors.Join(fmt.Errorf("the webhook is not saved: %w; set %s instead", unkept.Err, NotifyEnv), SaveNotify(data, notice.Target{}))
	}
	return err
}

// Try sends a test notification, and returns the answer of the server.
func (n Notify) Try(ctx context.Context) (string, error) {
	if n.URL == "" || n.Asks {
		return "", errNoNotify
	}
	answer, err := notice.Try(ctx, n.Target, notice.Test(time.Now()))
	if err != nil {
		return "", fmt.Errorf("%s: %s", n.Host(), secrets.Redact(err.Error()))
	}
	return secrets.Redact(answer), nil
}

var errNoNotify = &engine.FieldError{Field: "notify", Problem: "no address to try", Hint: "enter the address of a webhook, for example https://hooks.slack.com/…"}

// WatchFor starts sending notifications of a run; nil without a webhook. failed receives delivery errors.
func (n Notify) WatchFor(run *run.Run, title string, failed func(error)) *notice.Watch {
	if n.URL == "" {
		return nil
	}
	if n.Asks {
		failed(errors.New("no notifications are sent, because no keychain stored their address; enter it again in Settings, or set " + NotifyEnv))
		return nil
	}
	return notice.Start(notice.Config{Run: run, Scenario: title, Target: n.Target, Redact: secrets.Redact, Failed: func(err error) {
		failed(errors.New(secrets.Redact(err.Error())))
	}})
}
