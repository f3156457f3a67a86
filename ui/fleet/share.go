package fleet

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// sharing is the part of a choice that has the secrets of a scenario sent to the workers.
type sharing struct {
	share   *fyne.Container
	send    *widget.Check
	about   *form.Note
	secrets []string // their names
}

// buildSharing builds the part.
func (c *Choice) buildSharing() {
	c.send = widget.NewCheck("Send secrets to the workers", func(bool) { c.Changed() })
	c.about = form.NewNote("")
	c.share = form.NewStack(c.send, c.about)
}

// SetSecrets sets the names of the secrets that the scenario's services need. Other names have to be allowed again.
func (c *Choice) SetSecrets(names []string) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if slices.Equal(names, c.secrets) {
		return
	}
	c.secrets = names
	c.send.SetChecked(false)
	c.about.SetText("When the run starts, this computer sends " + strings.Join(names, ", ") + " to them. Workers keep secrets in memory only, and connections to other computers are encrypted. " +
		"Without this, each worker reads them from its own environment or keychain.")
	c.show()
}

// showSharing shows the part if secrets can be sent: a cluster would see them.
func (c *Choice) showSharing() {
	through := c.Where.Chosen() == Elsewhere && c.through.Checked
	c.share.Hidden = len(c.secrets) == 0 || c.Where.Chosen() == Here || through
}

// Shared returns the names of the secrets to send to the workers.
func (c *Choice) Shared() []string {
	if c.share.Hidden || !c.send.Checked {
		return nil
	}
	return slices.Clone(c.secrets)
}
