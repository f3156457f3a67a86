package service

import (
	"net/netip"
	"net/url"
	"strings"
)

// localSuffixes end the names of machines on a network of one's own (RFC 6762, RFC 8375, and what routers and containers use).
var localSuffixes = []string{".localhost", ".local", ".lan", ".internal", ".home.arpa"}

// IsLocal reports whether an address is on this machine or on a private network, by its host's name or number; no name is
// looked up. Nobody sends a bill for a model that runs there.
func IsLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return !strings.Contains(host, ".") // localhost, or a machine or container next to this one
}
