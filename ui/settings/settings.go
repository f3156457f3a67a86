// Package settings is the screen on which what outlasts a run is set: the database, the look, the data folder, the
// defaults.
package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/ui/internal/form"
)

// Connection is the database that results can go to.
type Connection struct {
	URL         string // without password
	From        string // "saved", "THRONG_DATABASE_URL"; "" is none
	HasPassword bool
	Keychain    string // why the keychain cannot be used; "" where it can
	CA          string // whose certificate was imported, and until when it is valid; "" is none
	CAProblem   string // why it cannot be used any more; "" where it can
	Asks        bool   // it had a password that could not be kept, and that must be given again
	Offer       string // host and name of a database that DATABASE_URL names and that is offered once; "" is none
}

// State is what a text stands for.
type State uint8

// The states.
const (
	Plain State = iota
	Good
	Warning
	Bad
)

// Line is something that a test found.
type Line struct {
	Name, Value string
	State       State
}

// Setting is a run setting as it is in force.
type Setting struct{ Name, Value, From, Help string }

// Desk is what the screen asks for. Its methods may take long, but for RemoteState.
type Desk interface {
	Connection(ctx context.Context) (Connection, error)
	// TestConnection asks the server: version, round trip, connections, rights, TLS. An empty password is the one that
	// is kept.
	TestConnection(ctx context.Context, url, password string) ([]Line, error)
	// SaveConnection keeps the URL with the settings and the password in the keychain; an empty url forgets both. An
	// empty password leaves the kept one.
	SaveConnection(ctx context.Context, url, password string) error
	// AnswerOffer saves the offered database, or remembers that it is not wanted.
	AnswerOffer(ctx context.Context, use bool) error
	// ImportCA takes over a PEM file of certificates that the server's must be signed by, and says whose it is.
	ImportCA(ctx context.Context, path string) (name string, err error)
	RemoveCA(ctx context.Context) error
	// Hook is where notices go beside this machine.
	Hook(ctx context.Context) (Hook, error)
	// TestHook sends a notice of a kind to an address, and returns what the server answered. No kind is that of the
	// address, and no address is the one that is kept.
	TestHook(ctx context.Context, kind, url string) (answer string, err error)
	// SaveHook keeps where notices go; an empty url forgets it.
	SaveHook(ctx context.Context, kind, url string) error
	// LogLevel is how much is logged, of the levels that there are.
	LogLevel() (level string, all []string)
	SetLogLevel(ctx context.Context, level string) error
	// RemoteState says how sending is doing, in words. It does not wait.
	RemoteState() (text string, state State)
	// Allowed lists what scenario files were allowed, by file, and Forget takes back what one was.
	Allowed(ctx context.Context) ([]Allowed, error)
	Forget(ctx context.Context, file string) error
	DataFolder() string
	// MoveData makes another folder the data folder from the next start on; nothing is moved or deleted.
	MoveData(ctx context.Context, dir string) error
	// Saved lists the run settings in force.
	Saved(ctx context.Context) ([]Setting, error)
	// Save keeps a run setting; "" forgets it.
	Save(ctx context.Context, name, value string) error
}

// Screen is the settings. Its methods are called on the UI goroutine.
type Screen struct {
	database *database
	data     *data
	defaults *defaults
	notices  *notices
	allowed  *allowed
	looks    *appearance
	content  fyne.CanvasObject
}

// New makes the screen.
func New(desk Desk, win fyne.Window, looks Appearance) *Screen {
	s := &Screen{database: newDatabase(desk, win), data: newData(desk, win), defaults: newDefaults(desk, win), looks: newAppearance(looks), notices: newNotices(desk, looks), allowed: newAllowed(desk)}
	page := container.NewVScroll(form.NewPanels(
		form.NewColumns(38, form.NewPanels(s.database.panel, s.data.panel, s.allowed.panel), form.NewPanels(s.looks.panel, s.notices.panel)),
		s.defaults.panel,
	))
	s.database.setPage(page)
	s.notices.url.Page = page
	s.defaults.page, s.defaults.look.Page = page, page
	s.content = page
	return s
}

// Content returns what the screen shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Scaled shows another scale of the text, which a person chose elsewhere.
func (s *Screen) Scaled(scale float64) { s.looks.scaled(scale) }

// Show begins to show the screen: everything is read again.
func (s *Screen) Show() {
	s.database.load()
	s.data.load()
	s.notices.load()
	s.allowed.load()
	s.defaults.load()
	s.Tick()
}

// Hide ends it.
func (s *Screen) Hide() {}

// Tick follows how sending is doing.
func (s *Screen) Tick() { s.database.follow() }
