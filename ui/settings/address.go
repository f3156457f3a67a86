package settings

import (
	"errors"
	"net/url"
	"strings"
)

// takePassword takes the password out of a database's URL, where one stands there.
func takePassword(text string) (rest, password string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return text, ""
	}
	found := false
	if password, found = u.User.Password(); found {
		u.User = url.User(u.User.Username())
	}
	if query := u.Query(); query.Has("password") {
		if !found {
			password, found = query.Get("password"), true
		}
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	if !found {
		return text, ""
	}
	return u.String(), password
}

// checkAddress says what is wrong with a database's URL, without repeating it: it may hold a password.
func checkAddress(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("an address is missing; Forget removes the saved one")
	case err != nil, strings.Contains(u.Path+u.Fragment+u.RawQuery, "@"):
		return errors.New("not an address; a password with signs such as # / % belongs into its own field")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return errors.New("an address begins with postgres://")
	case u.Host == "" && u.Query().Get("host") == "":
		return errors.New("the address names no host")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return errors.New("the password belongs into its own field")
	}
	return nil
}
