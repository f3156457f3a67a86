package show

import (
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/recorder"
	"github.com/throng-sim/throng/engine"
)

// Recorder prints how to use a recorder at a URL. ca is the file of the certificate to trust, and hash that of its key, for a
// forward proxy; ca is "" for a reverse proxy.
func Recorder(w io.Writer, url, target, ca, hash string) {
	if ca == "" {
		fmt.Fprintf(w, "Recording %s. Use it at this address instead, in a browser, an app or a script:\n\n  %s\n\n", target, url)
	} else {
		fmt.Fprintf(w, "Recording %s. Set %s as the HTTP and HTTPS proxy of your browser.\n", target, url)
		fmt.Fprintf(w, "The browser must trust %s for this recording; it is valid for the target and one day only.\n", ca)
		fmt.Fprintln(w, "  Firefox: Settings > Privacy & Security > Certificates > View Certificates > Authorities > Import")
		fmt.Fprintln(w, "  macOS: security add-trusted-cert -k ~/Library/Keychains/login.keychain-db FILE")
		fmt.Fprintln(w, "  Chrome, with a profile of its own, trusting nothing else:")
		fmt.Fprintf(w, "    google-chrome --user-data-dir=/tmp/throng-recording --proxy-server=%s --proxy-bypass-list='<-loopback>' --ignore-certificate-errors-spki-list=%s\n\n", url, hash)
	}
	fmt.Fprintln(w, "Make the visit at your usual pace: pauses become think times. Press Ctrl+C when you are done.")
}

// Recording prints what was recorded, and the next command.
func Recording(w io.Writer, s recorder.Summary) {
	if s.Exchanges == 0 {
		fmt.Fprintln(w, "\nNothing was recorded: no request came through the recorder. No file was written.")
		return
	}
	fmt.Fprintf(w, "\n%s recorded in %s.\n", engine.Counted(int64(s.Exchanges), "request", "requests"), s.File)
	if s.Skipped > 0 {
		fmt.Fprintf(w, "%s not recorded: the recording is full.\n", engine.Counted(int64(s.Skipped), "more request was", "more requests were"))
	}
	fmt.Fprintln(w, "The file contains passwords and tokens. Delete it after the import, and do not share it.")
	fmt.Fprintf(w, "Make a scenario of it: throngctl import %s\n", s.File)
}
