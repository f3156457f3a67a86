package wire

import (
	"math/rand/v2"
	"net"
)

// loopback reports whether a host is this machine without asking anybody.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func randomLetters(n int) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return string(text)
}
