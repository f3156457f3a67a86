package journey

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/service/redact"
)

var (
	passwordName = regexp.MustCompile(`(?i)passw|passphrase|^pwd$|^pass$|^pin$|(?:client|api|app|shared)_?secret|secret_?(?:key|access)|private_?key|client_?assertion|` +
		`cvv|cvc|^csc$|card_?(?:number|no|num)$|^pan$|^iban$|^ssn$|^otp$|one_?time_?(?:code|password)|mfa_?code`)
	tokenName = regexp.MustCompile(`(?i)csrf|xsrf|authenticity.?token|requestverificationtoken|nonce|^_token$|viewstate|eventvalidation`)
	keyName   = regexp.MustCompile(`(?i)^(?:x-)?(?:api-?key|auth-?token|access-?token|app-?key|subscription-?key|functions-?key)$|ocp-apim-subscription-key`)
)

func isPasswordName(name string) bool { return passwordName.MatchString(name) }

// isPassword reports whether a value is a password or a card number, by its name: it is always a secret.
func isPassword(s *slot) bool {
	return s.place != inPath && isPasswordName(s.name) && s.text != ""
}

// isTokenName reports whether a name is that of a token against forged requests, which an earlier answer has.
func isTokenName(name string) bool { return tokenName.MatchString(name) }

// isSecretName reports whether a name is that of a credential. Counts of tokens are not.
func isSecretName(name string) bool {
	return redact.IsSecret(name) && !strings.HasPrefix(strings.ToLower(name), "max") || keyName.MatchString(name)
}

func isSecretHeader(name string) bool {
	return redact.IsSecretHeader(name) && !strings.Contains(strings.ToLower(name), "session") || keyName.MatchString(name)
}

// signed matches names of query parameters that open a URL.
var signed = regexp.MustCompile(`(?i)^(?:key|sig|signature|hmac|x-amz-signature|x-goog-signature|access_key)$`)

// vault names secrets, and keeps their values out of the draft.
type vault struct {
	draft *importer.Draft
	names map[string]string // by value
}

// name returns the name of the secret with a value: SHOP_PASSWORD for the password of a service.
func (v *vault) name(service, kind, value, use string) string {
	if name := v.names[value]; name != "" {
		return name
	}
	const longest = 40
	base := strings.ToUpper(snake(service) + "_" + snake(kind))
	if len(base) > longest {
		base = strings.TrimRight(base[:longest], "_")
	}
	name := base
	for i := 2; v.has(name); i++ {
		name = base + "_" + itoa(i)
	}
	v.names[value] = name
	v.draft.Secrets = append(v.draft.Secrets, importer.Secret{Name: name, Value: value, Use: shorten(use)})
	return name
}

// named returns the name of a secret whose value the source does not have.
func (v *vault) named(name, use string) string {
	name = strings.ToUpper(snake(name))
	if name == "" {
		name = "SECRET"
	}
	if !v.has(name) {
		v.draft.Secrets = append(v.draft.Secrets, importer.Secret{Name: name, Use: shorten(use)})
	}
	return name
}

func (v *vault) has(name string) bool {
	return slices.ContainsFunc(v.draft.Secrets, func(s importer.Secret) bool { return s.Name == name })
}

// form is a spelling of a secret.
type form struct{ text, name string }

// forms lists the spellings of the secrets that are long enough not to occur by accident, longest first.
func (v *vault) forms() []form {
	const shortest = 6
	var all []form
	for _, s := range v.draft.Secrets {
		if len(s.Value) < shortest || weigh(s.Value) != specific {
			continue
		}
		for _, text := range []string{s.Value, url.QueryEscape(s.Value), url.PathEscape(s.Value)} {
			if f := (form{text, s.Name}); !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b form) int { return len(b.text) - len(a.text) })
	return all
}

// scrub removes the values of secrets from everything but the list of secrets. It is the last line of defense: a credential may
// stand where it is not expected, such as in the title of a page.
func (v *vault) scrub() {
	forms := v.forms()
	v.draft.Files = slices.DeleteFunc(v.draft.Files, func(f importer.File) bool {
		for _, form := range forms {
			if strings.Contains(string(f.Text), form.text) {
				v.draft.Notes = append(v.draft.Notes, "The uploaded file "+shorten(f.Name)+" contains a credential and was left out: put a file of that name into the folder.")
				return true
			}
		}
		return false
	})
	secrets := v.draft.Secrets
	v.draft.Secrets = nil
	v.clean(reflect.ValueOf(v.draft).Elem(), forms)
	v.draft.Secrets = secrets
}

var valueType = reflect.TypeFor[importer.Value]()

func (v *vault) clean(at reflect.Value, forms []form) {
	switch at.Kind() {
	case reflect.Pointer:
		if !at.IsNil() {
			v.clean(at.Elem(), forms)
		}
	case reflect.Slice, reflect.Array:
		if at.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range at.Len() {
			v.clean(at.Index(i), forms)
		}
	case reflect.Struct:
		if at.Type() == valueType {
			if value, ok := reflect.TypeAssert[*importer.Value](at.Addr()); ok {
				v.split(value, forms)
			}
		}
		for _, field := range at.Fields() {
			v.clean(field, forms)
		}
	case reflect.Interface:
		if text, ok := reflect.TypeAssert[string](at); ok {
			if clean := without(text, forms); clean != text {
				at.Set(reflect.ValueOf(clean))
			}
		}
	case reflect.String:
		if text := at.String(); at.CanSet() {
			if clean := without(text, forms); clean != text {
				at.SetString(clean)
			}
		}
	default:
	}
}

func without(text string, forms []form) string {
	for _, f := range forms {
		text = strings.ReplaceAll(text, f.text, redact.Mark)
	}
	return text
}

// split replaces secrets in a literal by their names.
func (v *vault) split(value *importer.Value, forms []form) {
	text, ok := value.Literal.(string)
	if !ok {
		if n, number := value.Literal.(int64); number {
			if name := v.names[itoa(int(n))]; name != "" && weigh(itoa(int(n))) == specific {
				*value = importer.Value{Secret: name, Note: value.Note}
			}
		}
		return
	}
	for _, f := range forms {
		before, after, found := strings.Cut(text, f.text)
		if !found {
			continue
		}
		if before == "" && after == "" {
			*value = importer.Value{Secret: f.name, Note: value.Note}
			return
		}
		parts := []importer.Value{{Secret: f.name}}
		if before != "" {
			parts = slices.Insert(parts, 0, importer.Value{Literal: before})
		}
		if after != "" {
			parts = append(parts, importer.Value{Literal: after})
		}
		*value = importer.Value{Parts: parts, Note: value.Note}
		return // clean visits the parts
	}
}
