// Package network makes hosts with a network of their own for tests: Linux network namespaces on one switch. The switch delays and
// loses packets, and cuts hosts off. It is a part of the test process, so it takes neither netem nor nftables nor the ip command,
// and the kernel removes all of it when the process ends, however that happens.
//
// Making hosts takes root, or a shell from unshare -rn. Where that is not possible, a proxy.Line does the same to single
// connections.
package network
