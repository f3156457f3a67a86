package service

import (
	"net/netip"
	"net/url"
	"strings"
)

// localSuffixes are the suffixes of host names on private networks (RFC 6762, RFC 8375, and those of routers and containers).
var localSuffixes = []string{".localhost", ".local", ".lan", ".internal", ".home.arpa"}

// IsLocal reports whether an address is on this machine or on a private network, by host name or IP address, without a lookup.
// Models there cost nothing.
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
	return !strings.Contains(host, ".") // localhost, or a machine or container on the same network
}
