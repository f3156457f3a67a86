package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// keychainName is what Throng's secrets are filed under.
const keychainName = AppID

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
		a.err = fmt.Errorf("no answer within %s", keychainTime)
	}
	if a.err != nil && !errors.Is(a.err, keyring.ErrNotFound) {
		a.err = fmt.Errorf("the keychain cannot be used: %w", a.err)
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

// secret returns a kept secret; "" if there is none.
func secret(name string) string {
	value, err := keychain(func() (string, error) { return keyring.Get(keychainName, name) })
	if err != nil {
		return ""
	}
	return value
}

// keepSecret keeps a secret; an empty one is forgotten.
func keepSecret(name, value string) error {
	_, err := keychain(func() (struct{}, error) {
		if value == "" {
			return struct{}{}, keyring.Delete(keychainName, name)
		}
		return struct{}{}, keyring.Set(keychainName, name, value)
	})
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}
