package config

import (
	"net/url"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
)

// OfferEnv is a variable that other programs read for their own database. Throng offers that database once, and never uses
// it without the user's choice.
const OfferEnv = "DATABASE_URL"

// offerKey holds the host and name of the database whose offer the user has answered, in the saved settings.
const offerKey = "database-offer"

// DatabaseOffer is a database that [OfferEnv] names. Results go there only after the user accepts it.
type DatabaseOffer struct {
	Target  string // host and name, without user and password
	address string
}

// FindDatabaseOffer returns the database of [OfferEnv]. ok is false if there is none, if another database is configured, or
// if the user has already answered the offer.
func FindDatabaseOffer(env func(string) string, data string) (offer DatabaseOffer, ok bool) {
	address := strings.TrimSpace(env(OfferEnv))
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return offer, false
	}
	secrets.Use(secrets.PasswordsIn(address)...)
	offer = DatabaseOffer{Database{URL: address}.Target(), address}
	saved, err := LoadSaved(data)
	if err != nil || offer.Target == "" || saved[offerKey] == offer.Target {
		return offer, false
	}
	db, _, err := FindDatabaseSettings(nil, env, data)
	return offer, err == nil && db.URL == ""
}

// Decline records that the user has seen the offer. It is not repeated.
func (o DatabaseOffer) Decline(data string) error {
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	saved[offerKey] = o.Target
	return store(data, saved)
}

// Accept saves the offered database, as [SaveDatabase] does.
func (o DatabaseOffer) Accept(data string) error { return SaveDatabase(data, Database{URL: o.address}) }
