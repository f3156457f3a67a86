// Package settings is the screen of everything that is set for all runs: database, look, notifications, data folder, defaults.
package settings

import (
	"context"

	"fyne.io/fyne/v2"
)

// Connection is the database for results.
type Connection struct {
	URL         string // without the password
	From        string // "saved", "THRONG_DATABASE_URL"; "" if none
	HasPassword bool
	Keychain    string // why the keychain cannot be used; "" if it can
	CA          string // subject and expiry of the imported certificate; "" if none
	CAProblem   string // why it cannot be used; "" if it can
	Asks        bool   // its password could not be stored and must be entered again
	Offer       string // host and name of the database of DATABASE_URL, which is offered once; "" if none
}

// State is the meaning of a text.
type State uint8

// The states.
const (
	Plain State = iota
	Good
	Warning
	Bad
)

// Line is a finding of a test.
type Line struct {
	Name, Value string
	State       State
}

// Setting is a setting and its value.
type Setting struct {
	Name, Title, Group, Help string
	Value, From              string // what a person set, or the default, and where it is from
	Shown, Why               string // what is in force, with its unit, and the setting that made it so; Why is "" if none did
}

// Desk is what the screen needs from the application. Its methods may take long, except for RemoteState.
type Desk interface {
	Connection(ctx context.Context) (Connection, error)
	// TestConnection tests version, round trip, connections, permissions and TLS of the server. An empty password is the saved one.
	TestConnection(ctx context.Context, url, password string) ([]Line, error)
	// SaveConnection saves the URL in the settings and the password in the keychain; an empty URL deletes both. An empty password keeps the
	// saved one.
	SaveConnection(ctx context.Context, url, password string) error
	// AnswerOffer saves the offered database, or stores that the user declined it.
	AnswerOffer(ctx context.Context, use bool) error
	// ImportCA imports a PEM file of CA certificates for the server, and returns the subject.
	ImportCA(ctx context.Context, path string) (name string, err error)
	RemoveCA(ctx context.Context) error
	// Hook returns the destination of notifications in addition to this machine.
	Hook(ctx context.Context) (Hook, error)
	// TestHook sends a notification to an address, and returns the server's response. An empty kind is detected from the address, and an
	// empty address is the saved one.
	TestHook(ctx context.Context, kind, url string) (answer string, err error)
	// SaveHook saves the web hook; an empty URL deletes it.
	SaveHook(ctx context.Context, kind, url string) error
	// LogLevel returns the log level and all levels.
	LogLevel() (level string, all []string)
	SetLogLevel(ctx context.Context, level string) error
	// RemoteState describes the state of sending. It does not wait.
	RemoteState() (text string, state State)
	// Allowed lists the permissions of scenario files, and Forget removes those of a file.
	Allowed(ctx context.Context) ([]Allowed, error)
	Forget(ctx context.Context, file string) error
	DataFolder() string
	// MoveData changes the data folder from the next start. It does not move or delete anything.
	MoveData(ctx context.Context, dir string) error
	// Saved lists the current run settings.
	Saved(ctx context.Context) ([]Setting, error)
	// Save saves a run setting; "" resets it.
	Save(ctx context.Context, name, value string) error
}

// Screen is the settings: one section at a time. Call its methods on the UI goroutine.
type Screen struct {
	win      fyne.Window
	database *database
	data     *data
	defaults *defaults
	notices  *notices
	allowed  *allowed
	looks    *appearance
	sections *sections
}

// New returns the screen.
func New(desk Desk, win fyne.Window, looks Appearance) *Screen {
	s := &Screen{win: win, database: newDatabase(desk, win), data: newData(desk, win), defaults: newDefaults(desk, win), looks: newAppearance(looks), notices: newNotices(desk, looks), allowed: newAllowed(desk)}
	s.sections = newSections(
		s.defaults,
		section{General, s.looks.panel, appearanceItems},
		section{Notifications, s.notices.panel, noticeItems()},
		section{Storage, s.data.panel, dataItems},
		section{Database, s.database.panel, databaseItems},
		section{Privacy, s.allowed.panel, allowedItems},
	)
	page := s.sections.page
	s.database.setPage(page)
	s.notices.url.Page = page
	s.defaults.page, s.defaults.changed = page, s.sections.read
	return s
}

// Open opens a section.
func (s *Screen) Open(section string) {
	s.sections.look.SetText("")
	s.sections.open(section)
	s.database.askPassword()
}

// find focuses the search.
func (s *Screen) find() {
	s.win.Canvas().Focus(s.sections.look)
	s.sections.look.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.sections.content }

// Scaled shows a text scale that was chosen elsewhere.
func (s *Screen) Scaled(scale float64) { s.looks.scaled(scale) }

// Show is called when the screen becomes visible. It reads everything again.
func (s *Screen) Show() {
	s.database.load()
	s.data.load()
	s.notices.load()
	s.allowed.load()
	s.defaults.load()
	s.Tick()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() {}

// Tick shows the state of sending.
func (s *Screen) Tick() { s.database.follow() }
