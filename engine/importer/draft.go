// Package importer turns what is known of a backend into a scenario. A source (an OpenAPI document, a recording, cURL commands,
// a Postman collection) becomes a [Draft], which a person may rearrange; [Draft.Write] writes it as a scenario file. The package
// does no input or output, and a draft contains no value of a secret outside of [Draft.Secrets].
package importer

import (
	"slices"
	"time"
)

// Draft is a scenario in the making.
type Draft struct {
	Title    string
	Source   string // what it was made from, for display: "OpenAPI 3.1: Petstore 1.0.27", "a recording of Chrome, 31 requests"
	Partial  string // why the source could be read in part only; "" if it was read to its end
	Services []Service
	Steps    []Step // in the order of the journey
	Data     []Data // constants and attributes that the steps use
	People   string // CSV or JSONL file of the agents, in the folder of the scenario; "" to number them
	Files    []File // files that belong in the folder of the scenario
	Secrets  []Secret
	Dropped  []Dropped
	Notes    []string // what was not imported, as sentences
}

// Service is a host that steps send requests to.
type Service struct {
	Name    string // an identifier
	URL     string // without a trailing slash; "" if the source does not say
	Headers []Pair // sent with every request
	Auth    Auth
	Cookies bool   // keep the cookies of each agent
	OpenAPI string // file of its OpenAPI document, one of [Draft.Files]; "" for none
}

// AuthKind is how agents sign in to a service.
type AuthKind string

// The kinds. Form logins with session cookies are steps of the journey and need none.
const (
	NoAuth AuthKind = ""
	Bearer AuthKind = "bearer" // Secret is a token for all agents
	Basic  AuthKind = "basic"  // User, Secret
	Header AuthKind = "header" // Name, Secret: an API key
	Query  AuthKind = "query"
	Cookie AuthKind = "cookie"
	Login  AuthKind = "login" // Request gets a token for each agent, found at Token; OAuth2's password and client credentials too
)

// OneAccount is the note of a login whose credentials the source does not have for each agent. [Auth.Note] may begin with it.
const OneAccount = "All agents log in with one account. For one account each, import again with a CSV file of users."

// Auth is how agents sign in to a service.
type Auth struct {
	Kind    AuthKind
	Name    string // of the header, query parameter or cookie
	User    string // for basic authentication, a text that may contain ${…}
	Secret  string // name of the secret
	Request *Step  // the login: a POST or PUT
	Token   string // where the login's answer has the token: "body.access_token", "headers.x-token"
	Note    string // what a person must fill in, if anything
}

// Step is a request of the journey.
type Step struct {
	ID      string // what it is in the source; it does not change when a source is imported again: "POST /baskets"
	Name    string // an identifier that is unique in the draft
	Title   string // for display: the summary of the operation
	Group   string // steps of a group stand together: the tag of an operation, the page of a recording, a folder
	Use     bool   // it is in the journey
	Service int    // index in Services
	Method  string // in upper case
	Path    Value  // text below the service's URL, beginning with a slash; literal parts are escaped
	Query   []Pair
	Headers []Pair
	Body    *Body    // nil for none
	Expect  []int    // statuses; nil accepts 200 to 299
	Check   bool     // check the answer's body against the schema of the OpenAPI document
	Public  bool     // sent without the service's credentials
	Follow  bool     // follow redirects
	Think   Think    // pause before it
	After   []string // IDs of steps that create what it is about under a value that both send
	Notes   []string
	Against string // why the source proposes a journey without it, as a sentence; "" if it proposes one with it
}

// BodyKind is how a body is written.
type BodyKind string

// The kinds.
const (
	JSON      BodyKind = "json"      // Value
	Form      BodyKind = "form"      // Pairs
	Multipart BodyKind = "multipart" // Pairs and Files
	Text      BodyKind = "body"      // Value, with the content type Type
)

// Body is the body of a request.
type Body struct {
	Kind  BodyKind
	Type  string // content type, for texts
	Value Value
	Pairs []Pair
	Files []Upload
}

// Upload is a file of a multipart body.
type Upload struct {
	Field, Name, Type string
	File              string // one of [Draft.Files]
}

// Pair is a named value.
type Pair struct {
	Name  string
	Value Value
}

// Value is a value of a request. Exactly one of the fields except Note is set; the zero value is null.
type Value struct {
	Literal any      // bool, int64, float64, string: sent as it is
	Expr    string   // an expression without ${ }: "pick(CATEGORIES)", "agent.email"
	Secret  string   // name of a secret
	From    *From    // taken from the answer of an earlier step
	Open    *Open    // what a person must decide
	Parts   []Value  // a text of several parts
	Items   *[]Value // a list
	Fields  *[]Pair  // an object
	Note    string   // comment above it
}

// From names the source of a value.
type From struct {
	Step string // ID of a step
	// Path is the expression after steps.NAME, such as ".id", ".items[0].id" or ".headers.location". With Wrap it is the first
	// argument of that function.
	Path string
	Wrap string // an expression with %s for the path, such as `form_field(%s, "csrf")`; "" for none
	// Example is the value in the source, which stands in where the step is not in the journey; nil if there is none.
	Example any
}

// Open is a value without a known source. It is written as unresolved(EXAMPLE, CANDIDATES), and `throngctl try` lists it.
type Open struct {
	Name       string   // what the value is: item_id; "" if the source does not say
	Example    any      // the value in the source, or a generated one
	Candidates []string // expressions that it may be taken from, or a short text: "a parameter", "steps.login.id"
}

// Think is a pause, drawn from a lognormal distribution. The zero value means no pause.
type Think struct {
	Median time.Duration
	Sigma  float64 // of the logarithm; 0 for a fixed pause
}

// Data is a constant of the scenario's functions or an attribute of its agents.
type Data struct {
	Name      string // PRODUCT_IDS, or email
	Attribute bool   // of the agents; else a constant
	Value     Value  // of an attribute, an expression with the draws of the population
	Note      string
}

// File is a file in the folder of the scenario.
type File struct {
	Name string
	Text []byte
}

// Secret is a secret that the source contains, or that the scenario needs.
type Secret struct {
	Name  string // an environment variable's name: SHOP_TOKEN
	Value string // for the keychain only; "" if the source does not have it
	Use   string // what it is for: "bearer token of staging.example.com"
}

// Dropped is what the source has and the scenario does not.
type Dropped struct {
	What   string // "https://www.google-analytics.com/collect", or an operation
	Reason string // "another host", "image", "font", "preflight request"
	Count  int
}

// Step returns the step with an ID, or nil.
func (d *Draft) Step(id string) *Step {
	i := slices.IndexFunc(d.Steps, func(s Step) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &d.Steps[i]
}
