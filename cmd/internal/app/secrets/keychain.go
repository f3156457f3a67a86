package secrets

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/about"
)

// keychainName is what Throng's secrets are filed under.
const keychainName = about.ID

// keychainTime is how long a keychain may take: some wait for a person who is not there.
const keychainTime = 5 * time.Second

// keychain is a call of the system's keychain with a bound on its time. Any error but that nothing was found means
// that there is no keychain.
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

// memory holds, by name, the secrets that were given to this process and that no keychain keeps. They are written
// nowhere, no child process gets them, and they end with the program.
var held sync.Map

// Hold keeps a secret until the program ends, and nowhere else; an empty one is forgotten.
func Hold(name, value string) {
	if value == "" {
		held.Delete(name)
		return
	}
	held.Store(name, value)
}

// UnkeptError says that a secret is known until the program ends, and not beyond: there is no keychain.
type UnkeptError struct{ Err error }

// Error implements error.
func (e *UnkeptError) Error() string {
	return "known only until the program ends: " + e.Err.Error()
}

// Unwrap returns what is wrong with the keychain.
func (e *UnkeptError) Unwrap() error { return e.Err }

// Kept returns a secret that was given to this process, or that the keychain has, and which of them. That there is
// none is [keyring.ErrNotFound], or why the keychain cannot be used.
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

// Store keeps a secret in the keychain; where there is none, in memory, which is an *UnkeptError. An empty one is
// forgotten.
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
	held.Delete(name) // it would go before what is kept now
	return err
}
