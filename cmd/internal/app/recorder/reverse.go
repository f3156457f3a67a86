package recorder

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// reverse returns a proxy that stands for the backend: browsers and apps call it instead.
func (r *Recorder) reverse() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: r.rewrite, ModifyResponse: r.answer, Transport: capture{r}, ErrorLog: quiet(), FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "Throng recorder: "+NoAnswer(r.target.Host, reason(err)), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.isOwn(req.Host) { // a page that made its name point to this machine
			http.Error(w, "Throng recorder: use the address "+r.URL(), http.StatusMisdirectedRequest)
			return
		}
		proxy.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), hostKey{}, req.Host)))
	})
}

// hostKey is the key, in the context of a request, of the host name that the client used for the recorder.
type hostKey struct{}

// isOwn reports whether a host is the recorder's address.
func (r *Recorder) isOwn(host string) bool {
	if r.cfg.Anywhere {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	_, own, err := net.SplitHostPort(r.listener.Addr().String())
	ip := net.ParseIP(name)
	return err == nil && port == own && (name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback())
}

// rewrite turns a request to the recorder into one to the backend.
func (r *Recorder) rewrite(p *httputil.ProxyRequest) {
	own := p.In.Host
	p.SetURL(r.target)
	p.Out.Host = r.target.Host
	for _, name := range []string{"Origin", "Referer"} {
		if v := p.Out.Header.Get(name); v != "" {
			p.Out.Header.Set(name, r.toTarget(v, own))
		}
	}
	p.Out.Header.Set("Accept-Encoding", acceptable(p.In.Header.Get("Accept-Encoding")))
	if _, ok := p.In.Header["User-Agent"]; !ok {
		p.Out.Header["User-Agent"] = nil // do not add the one of net/http
	}
}

// acceptable returns the encodings that a client and the recorder both understand.
func acceptable(text string) string {
	var all []string
	for name := range strings.SplitSeq(text, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), ";")
		switch name {
		case "gzip", "deflate", "br", "zstd":
			all = append(all, name)
		}
	}
	if all == nil {
		return "identity"
	}
	return strings.Join(all, ", ")
}

// toTarget replaces the recorder's address by the backend's.
func (r *Recorder) toTarget(text, own string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host != own {
		return text
	}
	u.Scheme, u.Host = r.target.Scheme, r.target.Host
	if u.Path != "" {
		u.Path = r.target.Path + u.Path
	}
	return u.String()
}

// answer turns an answer of the backend into one of the recorder: redirects lead to the recorder, and cookies are for it.
func (r *Recorder) answer(resp *http.Response) error {
	own, ok := resp.Request.Context().Value(hostKey{}).(string)
	if !ok {
		own = r.listener.Addr().String()
	}
	for _, name := range []string{"Location", "Content-Location"} {
		if v := resp.Header.Get(name); v != "" {
			resp.Header.Set(name, r.toOwn(v, own))
		}
	}
	if cookies := resp.Header["Set-Cookie"]; len(cookies) > 0 {
		for i, line := range cookies {
			cookies[i] = ownCookie(line)
		}
	}
	if resp.Header.Get("Access-Control-Allow-Origin") == r.target.Scheme+"://"+r.target.Host {
		resp.Header.Set("Access-Control-Allow-Origin", "http://"+own)
	}
	resp.Header.Del("Strict-Transport-Security") // it would make browsers refuse the recorder
	return nil
}

// toOwn replaces the backend's address by the recorder's.
func (r *Recorder) toOwn(text, own string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host != "" && !strings.EqualFold(u.Host, r.target.Host):
		return text
	case u.Host == "" && !strings.HasPrefix(u.Path, "/"):
		return text
	}
	path, below := strings.CutPrefix(u.Path, r.target.Path)
	if below && r.target.Path != "" && (path == "" || path[0] == '/') {
		u.Path, u.RawPath = "/"+strings.TrimPrefix(path, "/"), ""
	}
	if u.Host != "" {
		u.Scheme, u.Host = "http", own
	}
	return u.String()
}

// ownCookie removes what keeps a browser from sending a cookie to the recorder. Cookies whose name demands a secure connection
// keep it: browsers accept that for this machine.
func ownCookie(line string) string {
	parts := strings.Split(line, ";")
	strict := strings.HasPrefix(parts[0], "__Host-") || strings.HasPrefix(parts[0], "__Secure-")
	kept := parts[:1]
	for _, p := range parts[1:] {
		switch attribute := strings.ToLower(strings.TrimSpace(p)); {
		case strings.HasPrefix(attribute, "domain="), attribute == "partitioned":
		case (attribute == "secure" || attribute == "samesite=none") && !strict:
		default:
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ";")
}
