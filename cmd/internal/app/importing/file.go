package importing

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
)

// FileFor names the scenario after the source, or after its title where the source has no telling name.
func FileFor(source string, d *importer.Draft) string {
	name := ""
	if !IsAddress(source) && source != "-" {
		base := filepath.Base(source)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	switch strings.ToLower(name) {
	case "", "openapi", "swagger", "recording", "collection":
		name = strings.ReplaceAll(importer.Identifier(strings.ToLower(d.Title)), "_", "-")
	}
	if name == "" {
		name = "imported"
	}
	file := name + ".yaml"
	if file == filepath.Base(source) || strings.EqualFold(file, "openapi.yaml") {
		file = name + "-scenario.yaml"
	}
	return file
}

// Host returns the host of the first service, for --allow; "" if that needs no permission.
func Host(d *importer.Draft) string {
	if len(d.Services) == 0 {
		return ""
	}
	u, err := url.Parse(d.Services[0].URL)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip.IsLoopback() { // the user's own file needs no permission
		return ""
	}
	return u.Host
}
