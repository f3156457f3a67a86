package fromopenapi

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// named makes a text by its format or name. The zero value means that neither says anything; sample is a text as it may come out.
func (v *values) named(s *openapi.Schema, name string) (made importer.Value, sample string) {
	key := plain(name)
	switch {
	case slices.Contains(passwordNames[:4], key) || strings.HasSuffix(key, "password") || s.Format() == "password":
		return v.password(), "Pw1-3f2b8c1d-0000-4000-8000-000000000000"
	case s.Format() == "email" || slices.Contains(emailNames, key) || strings.HasSuffix(key, "email"):
		return v.user("email"), "3f2b8c1d-0000-4000-8000-000000000000@example.com"
	case slices.Contains([]string{"username", "login", "nickname", "userlogin", "handle"}, key), v.signing && slices.Contains(userNames[:7], key):
		return v.user(name), "user-3f2b8c1d-0000"
	}
	if made, sample = v.formatted(s.Format(), key); made.Expr != "" || made.Literal != nil {
		return made, sample
	}
	if s.Format() != "" {
		return importer.Value{}, ""
	}
	if made, sample = v.person(key); made.Expr != "" {
		return made, sample
	}
	if len(s.Examples()) > 0 {
		return importer.Value{}, ""
	}
	return v.common(key)
}

// formatted makes a text of a format.
func (v *values) formatted(format, key string) (importer.Value, string) {
	day := "now.date"
	if containsAny(key, "ship", "deliver", "due", "expire", "expiry", "until", "end", "checkin", "checkout", "arriv", "appoint", "schedule", "start") {
		day = "(now + 86400 * int(uniform(1, 30))).date"
	}
	switch format {
	case "uuid", "guid":
		return importer.Value{Expr: "session.uuid"}, "00000000-0000-4000-8000-000000000000"
	case "date":
		if containsAny(key, "birth", "dob") {
			return importer.Value{Expr: `str(int(uniform(1950, 2005))) + "-0" + str(int(uniform(1, 10))) + "-1" + str(int(uniform(0, 10)))`}, "1970-01-11"
		}
		return importer.Value{Expr: day}, "2026-01-02"
	case "date-time":
		return importer.Value{Expr: strings.Replace(strings.Replace(day, ".date", ".iso", 1), "now.date", "now.iso", 1)}, "2026-01-02T08:00:00Z"
	case "time":
		return importer.Value{Literal: "12:00:00Z"}, "12:00:00Z"
	case "duration":
		return importer.Value{Literal: "PT1H"}, "PT1H"
	case "uri", "url", "uri-reference", "iri":
		return importer.Value{Expr: `"https://example.com/" + session.uuid`}, "https://example.com/00000000-0000-4000-8000-000000000000"
	case "hostname", "idn-hostname":
		return importer.Value{Literal: "example.com"}, "example.com"
	case "ipv4":
		return importer.Value{Expr: `"192.0.2." + str(int(uniform(1, 255)))`}, "192.0.2.1"
	case "ipv6":
		return importer.Value{Literal: "2001:db8::1"}, "2001:db8::1"
	case "byte":
		return importer.Value{Literal: "VGhyb25n"}, "VGhyb25n"
	}
	return importer.Value{}, ""
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// person makes what people have: names, numbers, addresses.
func (v *values) person(key string) (importer.Value, string) {
	first := func() string {
		return v.constant("FIRST_NAMES", "Ann", "Ben", "Chloe", "David", "Ella", "Felix", "Grace", "Hugo", "Ines", "Jonas")
	}
	last := func() string {
		return v.constant("LAST_NAMES", "Adams", "Brown", "Clark", "Diaz", "Evans", "Fischer", "Garcia", "Hill", "Ito", "Jones")
	}
	about := v.of != nil && slices.Contains(peopleWords, v.of.resource)
	switch {
	case containsAny(key, "firstname", "givenname", "forename"):
		return importer.Value{Expr: first()}, "Chloe"
	case containsAny(key, "lastname", "surname", "familyname"):
		return importer.Value{Expr: last()}, "Fischer"
	case containsAny(key, "fullname", "displayname", "customername", "recipient", "contactname", "author") && !strings.HasSuffix(key, "id"), about && key == "name":
		return importer.Value{Expr: first() + ` + " " + ` + last()}, "Chloe Fischer"
	case containsAny(key, "phone", "mobile"):
		return importer.Value{Expr: `"+1555" + str(int(uniform(1000000, 10000000)))`}, "+15551234567"
	case strings.HasSuffix(key, "city"), key == "town":
		return importer.Value{Expr: v.constant("CITIES", "Bristol", "Lyon", "Porto", "Leipzig", "Aarhus", "Bergen", "Ghent", "Turin")}, "Leipzig"
	case strings.HasSuffix(key, "countrycode"), key == "country":
		return importer.Value{Expr: `pick(["DE", "DK", "FR", "GB", "IT", "US"])`}, "DE"
	case containsAny(key, "street", "addressline", "address1"), key == "address":
		return importer.Value{Expr: `str(int(uniform(1, 200))) + " " + ` + v.constant("STREETS", "Mill Road", "High Street", "Station Road", "Park Avenue", "Church Street")}, "12 Station Road"
	case containsAny(key, "zip", "postalcode", "postcode"):
		return importer.Value{Expr: "str(int(uniform(10000, 100000)))"}, "12345"
	case containsAny(key, "company", "organization", "employer"):
		return importer.Value{Expr: last() + ` + " Ltd"`}, "Fischer Ltd"
	}
	return importer.Value{}, ""
}

// common makes texts by usual names of fields.
func (v *values) common(key string) (importer.Value, string) {
	switch {
	case key == "currency" || key == "currencycode":
		return importer.Value{Expr: `pick(["EUR", "GBP", "USD"])`}, "EUR"
	case key == "language" || key == "lang" || key == "locale":
		return importer.Value{Literal: "en"}, "en"
	case key == "timezone" || key == "tz":
		return importer.Value{Literal: "UTC"}, "UTC"
	case strings.HasSuffix(key, "color"):
		return importer.Value{Expr: `pick(["red", "green", "blue", "black", "white"])`}, "white"
	case strings.HasSuffix(key, "url") || strings.HasSuffix(key, "uri") || key == "website" || key == "link":
		return importer.Value{Expr: `"https://example.com/" + session.uuid`}, "https://example.com/00000000-0000-4000-8000-000000000000"
	case containsAny(key, "description", "comment", "message", "content", "note", "review", "summary", "bio", "body", "text"):
		return importer.Value{Expr: v.constant("SENTENCES", "It arrived on time.", "Works as expected, thank you.", "Please leave it at the door.", "A little smaller than I thought.")}, "It arrived on time."
	case strings.HasSuffix(key, "date"):
		return importer.Value{Expr: "now.date"}, "2026-01-02"
	case strings.HasSuffix(key, "datetime") || strings.HasSuffix(key, "timestamp"):
		return importer.Value{Expr: "now.iso"}, "2026-01-02T08:00:00Z"
	case containsAny(key, "sku", "slug", "reference", "code", "serial", "key"):
		return importer.Value{Expr: `"x-" + session.uuid[:8]`}, "x-00000000"
	}
	return importer.Value{}, ""
}
