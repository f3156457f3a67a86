package secrets

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/about"
)

// keychainName is the service name of Throng's secrets in the keychain.
const keychainName = about.ID

// keychainTime bounds a call of the keychain, because some keychains wait for the user.
const keychainTime = 5 * time.Second

// keychain calls the system's keychain with a timeout. Any error other than keyring.ErrNotFound means that there is no
// usable keychain.
func keychain[T any](call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := call()
		done <- answer{value, err}
	}()
	late := time.NewTimer(keychainTime)
	defer late.Stop()
	var a answer
	select {
	case a = <-done:
	case <-late.C:
		a.err = errKeychainLate
	}
	if a.err != nil && !errors.Is(a.err, keyring.ErrNotFound) {
		a.err = noKeychain(a.err)
	}
	return a.value, a.err
}

// KeychainProblem says why the keychain cannot be used; nil if it can.
func KeychainProblem() error {
	_, err := keychain(func() (string, error) { return keyring.Get(keychainName, "probe") })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// held holds secrets by name that the user entered and no keychain stores. They are not written anywhere, child processes do
// not receive them, and they are lost when the program ends.
var held sync.Map

// Hold stores a secret in memory until the program ends. An empty value deletes it.
func Hold(name, value string) {
	if value == "" {
		held.Delete(name)
		return
	}
	held.Store(name, value)
}

// UnkeptError says that a secret is held in memory only, because there is no usable keychain.
type UnkeptError struct{ Err error }

// Error implements error.
func (e *UnkeptError) Error() string {
	return "stored only until the program ends: " + e.Err.Error()
}

// Unwrap returns the error of the keychain.
func (e *UnkeptError) Unwrap() error { return e.Err }

// Kept returns a secret from memory or the keychain, and which of them has it. If there is none, the error is
// [keyring.ErrNotFound], or the reason why the keychain cannot be used.
func Kept(name string) (value, place string, err error) {
	if v, ok := held.Load(name); ok {
		return v.(string), InMemory, nil
	}
	value, err = keychain(func() (string, error) { return keyring.Get(keychainName, name) })
	if err == nil && strings.TrimSpace(value) == "" {
		err = keyring.ErrNotFound
	}
	return value, InKeychain, err
}

// Store stores a secret in the keychain. Without a usable keychain, it stores the secret in memory and returns an
// *UnkeptError. An empty value deletes the secret.
func Store(name, value string) error {
	_, err := keychain(func() (struct{}, error) {
		if value == "" {
			return struct{}{}, keyring.Delete(keychainName, name)
		}
		return struct{}{}, keyring.Set(keychainName, name, value)
	})
	switch {
	case err != nil && value != "":
		held.Store(name, value)
		return &UnkeptError{err}
	case errors.Is(err, keyring.ErrNotFound):
		err = nil
	}
	held.Delete(name) // it would take precedence over the keychain
	return err
}
