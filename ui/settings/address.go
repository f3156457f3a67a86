package settings

import (
	"errors"
	"net/url"
	"strings"
)

// takePassword removes the password from a database's URL, if there is one.
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

// checkAddress validates a database's URL. The error does not repeat the URL, which may contain a password.
func checkAddress(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("missing address; Forget removes the saved one")
	case err != nil, strings.Contains(u.Path+u.Fragment+u.RawQuery, "@"):
		return errors.New("not a valid address; enter a password with characters such as # / % in its own field")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return errors.New("the address must start with postgres://")
	case u.Host == "" && u.Query().Get("host") == "":
		return errors.New("the address has no host")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return errors.New("enter the password in its own field")
	}
	return nil
}
