package wizard

import (
	"context"
	"testing"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// picked are file dialogs that choose one file without asking.
type picked string

func (p picked) Folder(context.Context, string) (string, error)         { return string(p), nil }
func (p picked) File(context.Context, string, []string) (string, error) { return string(p), nil }
func (p picked) Save(context.Context, string, string) (string, error)   { return string(p), nil }

func choose(t *testing.T, path string) {
	t.Helper()
	widgets.UseDialogs(picked(path))
	t.Cleanup(func() { widgets.UseDialogs(nil) })
}

// TestUsersKeepTheJourney checks that a file of users, for which the source is read again, keeps the arranged journey, the address and the
// secrets.
func TestUsersKeepTheJourney(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	st.read()
	st.steps.toggle("GET /health")
	st.steps.journey.move("GET /health", -4, false)
	st.steps.toggle("POST /cart")
	st.tap("Next")
	st.until("A new file.")
	st.finish.addresses[0].SetText("http://localhost:3000")
	st.finish.secrets["SHOP_TOKEN"].SetText("typed")
	choose(t, "/scenarios/users.csv")
	st.tap("Choose users…")
	st.until("Agents are the rows of /scenarios/users.csv.")
	if got := f.reads[1]; got.Users != "/scenarios/users.csv" || got.Place != "http://127.0.0.1:8000" {
		t.Errorf("read %+v", got)
	}
	st.same("health", "login", "search", "order")
	st.until("A new file.")
	st.tap("Create scenario")
	st.q.Until("created", func() bool { return len(st.created) == 1 })
	if d := f.saved; d.Services[0].URL != "http://localhost:3000" || d.Secrets[0].Value != "typed" {
		t.Errorf("saved %+v %+v", d.Services, d.Secrets)
	}
}

func TestNoUsersWithoutALogin(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.steps.toggle("POST /login")
	st.tap("Next")
	st.until("A new file.")
	if uitest.Button(st.top(), "Choose users…") != nil {
		t.Error("users are asked for without a login")
	}
}

func TestFilesAreChosen(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	choose(t, "/scenarios/ca.pem")
	st.tap("Certificate…")
	st.until("Trusts the certificates in /scenarios/ca.pem")
	choose(t, "/scenarios/shop.json")
	st.tap("Choose file…")
	st.until("Step 2 of 3")
	if got := f.reads[0]; got.Place != "/scenarios/shop.json" || got.CA != "/scenarios/ca.pem" {
		t.Errorf("read %+v", got)
	}
	st.tap("Next")
	st.until("A new file.")
	choose(t, "/scenarios/elsewhere")
	st.tap("Choose…")
	st.q.Until("chosen", func() bool { return st.finish.path.Text == "/scenarios/elsewhere.throng.yaml" })
}

// TestArrangeKeepsNewSteps checks that steps that another draft did not have follow the others as they are.
func TestArrangeKeepsNewSteps(t *testing.T) {
	was, now := shop(), shop()
	journey{was}.move("GET /health", -4, false)
	now.Steps = append(now.Steps, importer.Step{ID: "GET /new", Name: "new", Use: true})
	journey{now}.arrange(was)
	if n := len(now.Steps); n != 7 || now.Steps[0].Name != "health" || now.Steps[6].Name != "new" || !now.Steps[6].Use {
		t.Errorf("arranged %+v", now.Steps)
	}
}

func TestSignInAndDetails(t *testing.T) {
	for want, s := range map[string]importer.Service{
		"Sign-in: a user and a password, the secret P.":                                 {Auth: importer.Auth{Kind: importer.Basic, Secret: "P"}},
		"Sign-in: an API key in the header X-Key, the secret P.":                        {Auth: importer.Auth{Kind: importer.Header, Name: "X-Key", Secret: "P"}},
		"Sign-in: an API key in the parameter key, the secret P. Ask for one.":          {Auth: importer.Auth{Kind: importer.Query, Name: "key", Secret: "P", Note: "Ask for one."}},
		"Sign-in: a key in the cookie sid, the secret P.":                               {Auth: importer.Auth{Kind: importer.Cookie, Name: "sid", Secret: "P"}},
		"Sign-in: a login of each agent, POST /login.":                                  {Auth: importer.Auth{Kind: importer.Login, Request: &shop().Steps[0]}},
		"No sign-in apart from the steps of the journey; each agent keeps its cookies.": {Cookies: true},
		"No sign-in was found.":                                                         {},
	} {
		if got := signIn(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
