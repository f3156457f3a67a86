package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/database"
)

// postgresService is a service of kind postgres, from a scenario or from the user.
type postgresService struct {
	Name     string
	Address  string // postgres://… without a password, or secret:NAME
	Password string // name of a secret; "" if there is none
	Role     string // role of the statements; "" is the user's own
}

// find returns the database of a service and its secrets. Mistakes are *engine.FieldError values.
func (p postgresService) find(from secrets.Finder) (d *database.Server, found []string, err error) {
	field := "service " + p.Name
	wrong := func(err error, hint string) error {
		return &engine.FieldError{Field: field, Problem: err.Error(), Hint: hint}
	}
	address, password := p.Address, ""
	if name, ok := strings.CutPrefix(address, expr.SecretPrefix); ok {
		if err := secrets.CheckName(name); err != nil {
			return nil, nil, err
		}
		if address, _, err = from.Find(field, name); err != nil {
			return nil, nil, err
		}
		found = append(secrets.PasswordsIn(address), address)
		secrets.Use(found...)
	} else {
		if err := database.Check(address); err != nil {
			return nil, nil, wrong(err, "use postgres://user@host:5432/database, or secret:NAME for an address with a password")
		}
		if p.Password != "" {
			if password, _, err = from.Find(field, p.Password); err != nil {
				return nil, nil, err
			}
			found = append(found, password)
		}
	}
	if d, err = database.Parse(address, password); err != nil {
		return nil, nil, wrong(err, "")
	}
	return d.As(p.Role), found, nil
}

// checkPostgres queries the database of a service and describes the answer.
func checkPostgres(ctx context.Context, p postgresService) (string, error) {
	d, _, err := p.find(secrets.Finder{})
	if err != nil {
		return "", err
	}
	return d.Check(ctx)
}

// database returns the database of a service of kind postgres and its secrets.
func (l Services) database(s *chain.Service) (*database.Server, []string, error) {
	return postgresService{s.Name, l.address(s), s.Postgres.Password, s.Postgres.Role}.find(l.Secrets)
}

// openPool connects a service of kind postgres to its client.
func (l Services) openPool(j *Job, s *chain.Service) error {
	d, secrets, err := l.database(s)
	if err != nil {
		return err
	}
	limits := s.Postgres.Limits
	limits.NoBreaker = l.Settings.Breaker == noBreaker
	limits.Allow = l.allowance(s, d)
	_, values, err := l.Secrets.Of(s)
	if err != nil {
		return err
	}
	s.Unlock(values)
	secrets = slices.AppendSeq(secrets, maps.Values(values))
	client, err := service.NewPostgres(s.Name, d, limits)
	if err != nil {
		return err
	}
	client.Observe(l.Witness)
	j.onClose(func() error { client.Close(); return nil })
	j.pools, j.services = append(j.pools, client), append(j.services, client)
	s.ConnectPostgres(client, secrets...)
	return nil
}
