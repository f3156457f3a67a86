package credential

import (
	"net/url"

	"github.com/throng-sim/throng/engine/service"
)

// Proxy is the HTTP proxy of a service.
type Proxy struct {
	Address *url.URL // without a password
	User    string   // "" for none
	Secret  string   // name of the password; "" for none
}

// ParseProxy parses the address of a proxy.
func ParseProxy(address string) (*Proxy, error) {
	u, err := service.CheckAddress(address)
	if err != nil {
		return nil, err
	}
	return &Proxy{Address: u}, nil
}

// URL returns the address of the proxy with its user and password.
func (p *Proxy) URL(secrets *Store) *url.URL {
	u := *p.Address
	if p.User != "" {
		u.User = url.UserPassword(p.User, secrets.Secret(p.Secret))
	}
	return &u
}
