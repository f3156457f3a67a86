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

// NotifyEnv is the environment variable with the address that notices go to.
const NotifyEnv = "THRONG_NOTIFY_URL"

// NotifyKey is the name of the setting of where notices go, and NotifyHelp what it means.
const (
	NotifyKey  = "notify" // in the saved settings it stands for the address, by its kind and its host
	NotifyHelp = "web hook that is told of the end, of pauses, breakers, budgets and stalls: the kind and the host of an address; the keychain holds it"
)

const (
	notifyAccount = "notices" // what the address is filed under
	secretPrefix  = "secret:"
)

// Notify is where notices go that are told by web hook. The zero value is nowhere.
type Notify struct {
	notice.Target
	From string // "--notify", NotifyEnv or "saved"
	Asks bool   // the saved address was kept only until the program ended
}

// describe names the kind and the host, which are no secrets.
func (n Notify) describe() string { return string(n.Kind) + " " + n.Host() }

// Origin is where notices go, without the address, and where that is said.
func (n Notify) Origin() Origin {
	if n.URL == "" {
		return Origin{"none", cmp.Or(n.From, "default")}
	}
	return Origin{n.describe(), n.From}
}

// FindNotify returns where notices go, out of a flag, the environment and what is saved. A flag is an address,
// secret:NAME, or none. Its mistakes are *engine.FieldError.
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

// savedNotify is where notices go by what is saved.
func savedNotify(data string) (Notify, error) {
	saved, err := LoadSaved(data)
	if err != nil || saved[NotifyKey] == "" {
		return Notify{}, err
	}
	kind, host, _ := strings.Cut(saved[NotifyKey], " ")
	n := Notify{Target: notice.Target{Kind: notice.Kind(kind), URL: "https://" + host}, From: fromSaved, Asks: true}
	address, _, err := secrets.Kept(notifyAccount)
	if err != nil {
		return n, nil //nolint:nilerr // whoever is asked for the address learns it
	}
	target, err := notice.ParseTarget(kind + ":" + address)
	if err != nil {
		return n, nil //nolint:nilerr // the same
	}
	secrets.Use(address)
	return Notify{Target: target, From: fromSaved}, nil
}

// SaveNotify keeps where notices go: the address in the keychain, its kind and host with the settings. The zero value
// forgets both. Without a keychain the address lasts until the program ends, which is an *UnkeptError.
func SaveNotify(data string, target notice.Target) error {
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	delete(saved, NotifyKey)
	if target.URL != "" {
		saved[NotifyKey] = Notify{Target: target}.describe()
		secrets.Use(target.URL)
	}
	if err := store(data, saved); err != nil {
		return err
	}
	return secrets.Store(notifyAccount, target.URL)
}

// SaveNotifyText is SaveNotify of an address as a person writes it; "" forgets the one that is kept. Where no keychain keeps
// it, it is not saved.
func SaveNotifyText(data, text string) error {
	var target notice.Target
	if text != "" {
		var err error
		if target, err = notice.ParseTarget(text); err != nil {
			return err
		}
	}
	err := SaveNotify(data, target)
	if unkept, ok := errors.AsType[*secrets.UnkeptError](err); ok {
		return errors.Join(fmt.Errorf("where notices go is kept nowhere: %w; %s=… in the environment says it", unkept.Err, NotifyEnv), SaveNotify(data, notice.Target{}))
	}
	return err
}

// Try sends a notice for a person who waits for it, and returns what the server answered.
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

var errNoNotify = &engine.FieldError{Field: "notify", Problem: "there is no address to try", Hint: "the address of a web hook, such as https://hooks.slack.com/…"}

// WatchFor begins to tell of a run; nil is that nobody is to be told. failed hears of what cannot be sent.
func (n Notify) WatchFor(run *run.Run, title string, failed func(error)) *notice.Watch {
	if n.URL == "" {
		return nil
	}
	if n.Asks {
		failed(errors.New("no notices are sent: their address was kept only until the program ended that it was given to; give it again in Settings, or set " + NotifyEnv))
		return nil
	}
	return notice.Start(notice.Config{Run: run, Scenario: title, Target: n.Target, Redact: secrets.Redact, Failed: func(err error) {
		failed(errors.New(secrets.Redact(err.Error())))
	}})
}
