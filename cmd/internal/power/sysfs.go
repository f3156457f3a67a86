package power

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// supplies reads the kernel's list of power supplies (Documentation/ABI/testing/sysfs-class-power). A machine without an
// entry is on mains: desktops and servers have none.
func supplies(list fs.FS) (Source, error) {
	all, err := fs.ReadDir(list, ".")
	if err != nil {
		return Source{}, ErrUnknown
	}
	source := Source{Percent: -1}
	for _, e := range all {
		word := func(file string) string {
			text, err := fs.ReadFile(list, path.Join(e.Name(), file))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(text))
		}
		if word("type") != "Battery" || word("scope") == "Device" { // the battery of a mouse
			continue
		}
		if word("status") == "Discharging" {
			source.Battery = true
		}
		if n, err := strconv.Atoi(word("capacity")); err == nil {
			source.Percent = n
		}
	}
	return source, nil
}
