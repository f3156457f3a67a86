package chain

import (
	"bytes"
	"mime"
	"strings"
)

// utf8Mark is what some servers put before their UTF-8; RFC 8259, section 8.1, lets readers of JSON pass over it.
var utf8Mark = []byte("\xef\xbb\xbf")

// latin are the names of the encodings that are read as windows-1252, as browsers do.
var latin = map[string]bool{"iso-8859-1": true, "iso8859-1": true, "latin1": true, "latin-1": true, "windows-1252": true, "cp1252": true}

// windows1252 are the characters of the bytes 0x80 to 0x9f, as the Encoding Standard of WHATWG has them.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// inUTF8 returns the text of an answer in UTF-8, by what its Content-Type says: as it is, without a mark of its order of
// bytes, where that names no other encoding that is known here.
func inUTF8(text []byte, contentType string) []byte {
	_, with, _ := mime.ParseMediaType(contentType)
	if !latin[strings.ToLower(with["charset"])] {
		return bytes.TrimPrefix(text, utf8Mark)
	}
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/8)
	for _, b := range text {
		switch {
		case b < 0x80:
			out.WriteByte(b)
		case b < 0xa0:
			out.WriteRune(windows1252[b-0x80])
		default:
			out.WriteRune(rune(b))
		}
	}
	return out.Bytes()
}
