// Package helpmenu makes a menu the help menu of macOS, to which the system adds a search field over all menu items. Elsewhere it does
// nothing.
package helpmenu
