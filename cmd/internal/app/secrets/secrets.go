// Package secrets finds secrets in the environment and the keychain, keeps them there, and redacts them from texts.
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

// Finder finds the secrets that a scenario names. The zero value looks into the environment of the process, then among
// those that were given to this process, then into the keychain.
type Finder struct {
	Env func(name string) string // nil is os.Getenv
}

// givenSecrets holds, by name, the secret parameters that were given for this process. They are written nowhere.
var givenSecrets sync.Map

// TakeGiven keeps the secret parameters that were given with a scenario until the program ends.
func TakeGiven(s *scenario.Scenario) {
	for i := range s.Secrets {
		if p := &s.Secrets[i]; p.Given != "" {
			Use(p.Given)
			givenSecrets.Store(p.Name, p.Given)
			p.Given = ""
		}
	}
}

// Where a secret was found.
const (
	InEnvironment = "the environment"
	InKeychain    = "the keychain"
	InMemory      = "the memory of this program"
)

// Find returns a secret and where it was found. That there is none is a *engine.FieldError of field, which says both
// places.
func (s Finder) Find(field, name string) (value, place string, err error) {
	env := s.Env
	if env == nil {
		env = os.Getenv
	}
	if v, ok := givenSecrets.Load(name); ok {
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
	problem := fmt.Sprintf("the secret %s is neither in %s nor in %s", name, InEnvironment, InKeychain)
	if !errors.Is(err, keyring.ErrNotFound) {
		problem = fmt.Sprintf("the secret %s is not in %s, and %v", name, InEnvironment, err)
	}
	return "", "", &engine.FieldError{Field: field, Problem: problem, Hint: "export " + name + "=…, or throngctl secret set " + name}
}

// Of returns the secrets of a service: what stands for its bearer token, and the others by name. All that are missing
// are told.
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

// Keep keeps a secret in the keychain; where there is none, until the program ends, which is an *UnkeptError. A
// name that a scenario could not write is a *engine.FieldError, and so is an empty value.
func Keep(name, value string) error {
	value, err := given(name, value)
	if err != nil {
		return err
	}
	return Store(name, value)
}

// Remember keeps a secret until the program ends, and nowhere else. Its mistakes are those of [KeepSecret].
func Remember(name, value string) error {
	value, err := given(name, value)
	if err == nil {
		held.Store(name, value)
	}
	return err
}

// given is the value of a secret as a person gave it.
func given(name, value string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", &engine.FieldError{Field: "secret " + name, Problem: "it is empty", Hint: "to forget it: throngctl secret forget " + name}
	}
	return value, nil
}

// Forget takes a secret out of the keychain and of memory; one that is not there is forgotten already.
func Forget(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return Store(name, "")
}

// FindPlace says where a secret is found.
func FindPlace(name string) (place string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	_, place, err = Finder{}.Find("secret", name)
	return place, err
}

// CheckName returns an error unless name can be the name of a secret.
func CheckName(name string) error {
	if expr.IsSecret(name) {
		return nil
	}
	return &engine.FieldError{Field: "secret", Problem: fmt.Sprintf("%q cannot be its name", name), Hint: "letters, digits, _ and, but for the first, . and -"}
}
