// Package secrets finds secrets in the environment and the keychain, stores them, and redacts them from texts.
package secrets

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/scenario"
)

// Finder finds the secrets that a scenario names: in the environment, in memory, and in the keychain. The zero value is
// ready.
type Finder struct {
	Env     func(name string) string // nil is os.Getenv
	Further func(name string) string // another way to provide a secret, for the hint of an error; may be nil
}

// givenSecrets holds secret parameters by name in memory.
var givenSecrets sync.Map

// TakeGiven moves the secret parameters of a scenario to memory, until the program ends.
func TakeGiven(s *scenario.Scenario) {
	for i := range s.Secrets {
		if p := &s.Secrets[i]; p.Given != "" {
			Use(p.Given)
			givenSecrets.Store(p.Name, p.Given)
			p.Given = ""
		}
	}
}

// Places where a secret is found.
const (
	InEnvironment = "the environment"
	InKeychain    = "the keychain"
	InMemory      = "the memory of this program"
)

// Find returns a secret and the place where it was found. If there is none, the error is a *engine.FieldError for field.
func (s Finder) Find(field, name string) (value, place string, err error) {
	env := s.Env
	if env == nil {
		env = os.Getenv
	}
	if v, ok := givenSecrets.Load(name); ok {
		return v.(string), InMemory, nil
	}
	if v, ok := held.Load(name); ok { // entered in this process, for example because the environment has a wrong value
		return v.(string), InMemory, nil
	}
	if value = strings.TrimSpace(env(name)); value != "" {
		Use(value)
		return value, InEnvironment, nil
	}
	value, place, err = Kept(name)
	if value = strings.TrimSpace(value); err == nil {
		Use(value)
		return value, place, nil
	}
	problem, hint := fmt.Sprintf("the secret %s is neither in %s nor in %s", name, InEnvironment, InKeychain), "export "+name+"=…"
	if !errors.Is(err, keyring.ErrNotFound) {
		problem = fmt.Sprintf("the secret %s is not in %s, and %v", name, InEnvironment, err)
	} else {
		hint += ", or throngctl secret set " + name
	}
	if s.Further != nil {
		hint += ", or " + s.Further(name)
	}
	return "", "", &engine.FieldError{Field: field, Problem: problem, Hint: hint}
}

// Of returns the secrets of a service: its bearer token, and the others by name. The error lists all missing ones.
func (s Finder) Of(service *chain.Service) (bearer string, others map[string]string, err error) {
	var mistakes []error
	find := func(name string) string {
		value, _, err := s.Find("service "+service.Name, name)
		mistakes = append(mistakes, err)
		return value
	}
	if service.Bearer != "" {
		bearer = find(service.Bearer)
	}
	others = map[string]string{}
	for _, name := range service.Secrets() {
		others[name] = find(name)
	}
	return bearer, others, errors.Join(mistakes...)
}

// Keep stores a secret in the keychain. Without a usable keychain, it stores the secret in memory and returns an
// *UnkeptError. For an invalid name or an empty value, the error is a *engine.FieldError.
func Keep(name, value string) error {
	value, err := given(name, value)
	if err != nil {
		return err
	}
	Use(value)
	return Store(name, value)
}

// Remember stores a secret in memory until the program ends. Mistakes are those of [Keep].
func Remember(name, value string) error {
	value, err := given(name, value)
	if err == nil {
		held.Store(name, value)
	}
	return err
}

// given checks the name and value of a secret that the user entered.
func given(name, value string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", &engine.FieldError{Field: "secret " + name, Problem: "is empty", Hint: "to delete it: throngctl secret forget " + name}
	}
	return value, nil
}

// Forget deletes a secret from the keychain and from memory. It is not an error if there is none.
func Forget(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return Store(name, "")
}

// FindPlace returns the place where a secret is found.
func FindPlace(name string) (place string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	_, place, err = Finder{}.Find("secret", name)
	return place, err
}

// CheckName returns a *engine.FieldError unless name is a valid name of a secret.
func CheckName(name string) error {
	if expr.IsSecret(name) {
		return nil
	}
	return &engine.FieldError{Field: "secret", Problem: fmt.Sprintf("invalid name %q", name), Hint: "use letters, digits and _; after the first character also . and -"}
}
