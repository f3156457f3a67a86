package journey

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

// Host is a host of a recording.
type Host struct {
	Name     string // with the port, unless it is the usual one
	Requests int    // requests for data and documents, without static files
	Use      bool   // it belongs to the backend, as far as can be seen
}

// Hosts lists the hosts of recordings, those with most requests first. The first is taken for the backend, and so are hosts of the
// same site that answer requests for data.
func Hosts(recordings []*exchange.Recording) []Host {
	var all []Host
	for _, r := range recordings {
		for i := range r.Exchanges {
			e := &r.Exchanges[i]
			u, err := parseURL(e.URL)
			if err != nil || unusable(e, u) != "" || telemetry(e, u) {
				continue
			}
			at := slices.IndexFunc(all, func(h Host) bool { return h.Name == u.Host })
			if at < 0 {
				at = len(all)
				all = append(all, Host{Name: u.Host})
			}
			all[at].Requests++
		}
	}
	slices.SortStableFunc(all, func(a, b Host) int { return b.Requests - a.Requests })
	for i := range all {
		all[i].Use = i == 0 || site(all[i].Name) == site(all[0].Name)
	}
	return all
}

// site returns what hosts of one owner have in common: example.com of api.example.com. All names of this machine are one site.
func site(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback():
		return "localhost"
	case ip != nil:
		return host
	}
	if name, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return name
	}
	return host
}

// unknownHost is the top-level domain of hosts whose address is in a variable without a value. See RFC 2606.
const unknownHost = ".invalid"

var hostVariable = regexp.MustCompile(`^(?:https?://)?\{\{([^{}]+)\}\}`)

// parseURL parses an absolute URL and normalizes its host. A host in a variable, {{base_url}}, becomes base-url.invalid.
func parseURL(text string) (*url.URL, error) {
	if m := hostVariable.FindStringSubmatch(text); m != nil {
		text = "http://" + strings.ReplaceAll(snake(m[1]), "_", "-") + unknownHost + text[len(m[0]):]
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	u.Host = strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		u.Host = strings.TrimSuffix(u.Host, ":80")
	case "https":
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// static are extensions of files that a page consists of.
var static = strings.Fields(`.css .js .mjs .cjs .jsx .ts .tsx .map .png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .woff .woff2 .ttf .otf .eot
	.mp3 .mp4 .webm .ogg .wav .mov .m4a .m3u8 .wasm .webmanifest .vue .scss .less`)

// resources are resource types of browsers that are not requests for data.
var resources = map[string]string{
	"stylesheet": "style sheet", "script": "script", "image": "image", "imageset": "image", "font": "font", "media": "media", "manifest": "manifest",
	"texttrack": "media", "websocket": "WebSocket", "ping": "telemetry", "beacon": "telemetry", "csp-violation-report": "telemetry",
	"cspviolationreport": "telemetry", "preflight": "preflight request", "signed-exchange": "static file", "eventsource": "event stream",
}

// contentTypes are beginnings of content types of answers that are not data.
var contentTypes = []struct{ prefix, reason string }{
	{"image/", "image"},
	{"font/", "font"},
	{"application/font", "font"},
	{"application/x-font", "font"},
	{"audio/", "media"},
	{"video/", "media"},
	{"text/css", "style sheet"},
	{"text/javascript", "script"},
	{"application/javascript", "script"},
	{"application/x-javascript", "script"},
	{"application/wasm", "script"},
	{"application/manifest", "manifest"},
	{"text/event-stream", "event stream"},
}

// unusable returns why an exchange is not a request of a journey, whichever host it goes to, or "".
func unusable(e *exchange.Exchange, u *url.URL) string {
	switch {
	case u.Scheme == "ws" || u.Scheme == "wss" || e.Status == http.StatusSwitchingProtocols:
		return "WebSocket"
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "not sent over HTTP"
	case e.Method == http.MethodOptions || e.Method == http.MethodConnect || e.Method == http.MethodTrace:
		return "preflight request"
	case e.Cached:
		return "answered by the browser's cache"
	case !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}, e.Method):
		return "method " + shorten(e.Method)
	case resources[e.Type] != "":
		return resources[e.Type]
	}
	if e.Method != http.MethodGet && e.Method != http.MethodHead {
		return ""
	}
	base := strings.ToLower(path.Base(u.Path))
	switch {
	case strings.HasPrefix(base, "favicon") || strings.HasPrefix(base, "apple-touch-icon"):
		return "icon"
	case base == "robots.txt" || base == "manifest.json" || base == "site.webmanifest" || base == "service-worker.js" || base == "sw.js":
		return "static file"
	case slices.Contains(static, path.Ext(base)):
		return "static file"
	case strings.Contains(u.Path, "/_next/static/") || strings.Contains(u.Path, "/@vite/") || strings.Contains(u.Path, "/__webpack_hmr") || strings.Contains(u.Path, "/.well-known/appspecific/"):
		return "static file"
	}
	kind := strings.ToLower(e.Response.Type)
	for _, c := range contentTypes {
		if strings.HasPrefix(kind, c.prefix) && (e.Type == "" || e.Type == "other") {
			return c.reason
		}
	}
	return ""
}

var (
	telemetryHost = regexp.MustCompile(`(?i)(?:^|\.)(?:google-analytics|googletagmanager|doubleclick|segment|mixpanel|amplitude|hotjar|sentry|bugsnag|datadoghq|` +
		`newrelic|nr-data|fullstory|clarity|facebook|intercom|hubspot|posthog|plausible|matomo|rollbar|logrocket|launchdarkly|cloudflareinsights)\.`)
	telemetryPath = regexp.MustCompile(`(?i)/(?:g/collect|collect|beacon|telemetry|analytics|rum|csp-report|__utm\.gif|pixel|envelope|cdn-cgi/rum|_vercel/insights|web-vitals|metrics/client)(?:/|$)`)
)

// telemetry reports whether an exchange only tells the operator about the browser.
func telemetry(e *exchange.Exchange, u *url.URL) bool {
	return telemetryHost.MatchString(u.Host) || telemetryPath.MatchString(u.Path) && (e.Method != http.MethodGet || !strings.Contains(e.Response.Type, "json"))
}

// noAnswer is the reason why a request without an answer is left out, if the recording does not say more.
const noAnswer = "no answer in the recording"

// silentHosts says which hosts did not answer, and why, if that is why no request was kept; else it returns "".
func silentHosts(r *exchange.Recording, hosts []string) string {
	var all []string
	for i := range r.Exchanges {
		e := &r.Exchanges[i]
		u, err := parseURL(e.URL)
		switch {
		case err != nil || !slices.Contains(hosts, u.Host) || unusable(e, u) != "":
			continue
		case e.Status != 0:
			return ""
		}
		text := u.Host + " did not answer"
		if e.Failure != "" {
			text += ": " + shorten(e.Failure)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// request is a kept exchange, with its URL and the redirects that led to it.
type request struct {
	*exchange.Exchange
	at     int // its index in the recording
	url    *url.URL
	follow bool // answers of redirects are left out: the last one counts
	final  *exchange.Exchange
	notes  []string
}

// answer returns the exchange whose answer the step sees.
func (r *request) answer() *exchange.Exchange {
	if r.final != nil {
		return r.final
	}
	return r.Exchange
}

// drops counts what was left out.
type drops struct{ list []importer.Dropped }

func (d *drops) add(what, reason string) {
	for i := range d.list {
		if d.list[i].What == what && d.list[i].Reason == reason {
			d.list[i].Count++
			return
		}
	}
	d.list = append(d.list, importer.Dropped{What: what, Reason: reason, Count: 1})
}

// address names a URL in a list of what was left out, without its query, which may contain credentials.
func address(u *url.URL) string {
	if u.Host == "" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// keep returns the requests to the hosts, in order, and counts the others.
func keep(r *exchange.Recording, hosts []string, dropped *drops) []request {
	var all []request
	seen := make(map[string]bool)
	for i := range r.Exchanges {
		e := &r.Exchanges[i]
		u, err := parseURL(e.URL)
		if err != nil {
			dropped.add("a request whose URL cannot be read", "not a URL")
			continue
		}
		reason := ""
		same := e.Method + " " + u.String()
		switch {
		case u.Host != "" && !slices.Contains(hosts, u.Host):
			reason = "another host"
			if telemetry(e, u) {
				reason = "telemetry"
			}
		case unusable(e, u) != "":
			reason = unusable(e, u)
		case telemetry(e, u):
			reason = "telemetry"
		case e.Status == http.StatusNotModified && seen[same]:
			reason = "unchanged since the browser's last request"
		case e.Status == 0 && !e.Start.IsZero():
			reason = noAnswer
			if e.Failure != "" {
				reason = "no answer: " + shorten(e.Failure)
			}
		}
		if reason != "" {
			dropped.add(address(u), reason)
			continue
		}
		seen[same] = true
		all = append(all, request{Exchange: e, at: i, url: u, follow: e.Follow})
	}
	return redirected(all)
}

// redirected joins requests with those that follow their redirects, where the joined step replays the same. A redirect stays a
// step of its own if it leads to another host, if what it leads to was not recorded, or if a later request uses a value that only
// its Location has.
func redirected(all []request) []request {
	const most = 10
	gone := make([]bool, len(all))
	for i := range all {
		at := i
		for range most {
			if gone[i] || !isRedirect(all[at].Status) {
				break
			}
			next := target(all, at, gone)
			if next < 0 || needed(all, at, next) {
				break
			}
			gone[next] = true
			all[i].follow, all[i].final = true, all[next].Exchange
			at = next
		}
	}
	var rest []request
	for i := range all {
		if !gone[i] {
			rest = append(rest, all[i])
		}
	}
	return rest
}

func isRedirect(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status)
}

// target returns the index of the request that follows the redirect at, or -1.
func target(all []request, at int, gone []bool) int {
	const near = 8 // requests of other parts of a page may come between
	to, err := all[at].url.Parse(all[at].Response.Header("Location"))
	if err != nil || all[at].Response.Header("Location") == "" {
		return -1
	}
	if to, err = parseURL(to.String()); err != nil || to.Host != all[at].url.Host || to.Scheme != all[at].url.Scheme {
		return -1
	}
	for i := at + 1; i < len(all) && i <= at+near; i++ {
		if !gone[i] && all[i].url.String() == to.String() {
			return i
		}
	}
	return -1
}

// needed reports whether a request after a redirect uses a value that its Location has and the answer at its end does not.
func needed(all []request, at, next int) bool {
	to := all[next].url
	values := strings.Split(strings.Trim(to.EscapedPath(), "/"), "/")
	for _, list := range to.Query() {
		values = append(values, list...)
	}
	for _, value := range values {
		if weigh(value) != specific || strings.Contains(all[next].Response.Body, value) {
			continue
		}
		for i := at + 1; i < len(all); i++ {
			if i != next && (strings.Contains(all[i].url.EscapedPath()+"?"+all[i].url.RawQuery, value) || strings.Contains(all[i].Request.Body, value)) {
				return true
			}
		}
	}
	return false
}

// withoutMistyped leaves out logins that the backend refused and that a successful one to the same address follows.
func withoutMistyped(all []request, dropped *drops) []request {
	refused := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity}
	var rest []request
	for i := range all {
		status := all[i].Status
		if slices.Contains(refused, status) && slices.ContainsFunc(all[i+1:], func(r request) bool { return accepts(&all[i], &r) }) && signsIn(&all[i]) {
			dropped.add(all[i].Method+" "+all[i].url.EscapedPath(), fmt.Sprintf("a failed sign-in (status %d) that a successful one follows", status))
			continue
		}
		rest = append(rest, all[i])
	}
	return rest
}

// accepts reports whether a request succeeded at what another one failed.
func accepts(failed, r *request) bool {
	return r.Method == failed.Method && r.url.Host == failed.url.Host && r.url.Path == failed.url.Path && r.Status >= 200 && r.Status < 400
}

// signsIn reports whether a request sends a password.
func signsIn(r *request) bool {
	return r.Method != http.MethodGet && slices.ContainsFunc(newCall(r, 0, 0).slots, isLoginPassword)
}
