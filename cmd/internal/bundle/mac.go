package main

import (
	"context"
	"os"
	"path/filepath"
)

// finishMac leaves an application bundle.
func finishMac(ctx context.Context, j job, work string) ([]string, error) {
	made, err := glob(work, "*.app")
	if err != nil {
		return nil, err
	}
	// The tool names no category, and a system older than what Go's programs need. And a run goes on at full speed behind
	// other windows: App Nap would slow its timers down.
	err = rewrite(filepath.Join(made, "Contents", "Info.plist"),
		"<string>public.app-category.</string>", "<string>public.app-category.developer-tools</string>",
		"<string>10.11</string>", "<string>12.0</string>",
		"</dict>\n</plist>", "\t<key>LSAppNapIsDisabled</key>\n\t<true/>\n\t<key>NSAppSleepDisabled</key>\n\t<true/>\n</dict>\n</plist>")
	if err != nil {
		return nil, err
	}
	app := filepath.Join(j.out, filepath.Base(made))
	if err := os.RemoveAll(app); err != nil {
		return nil, err
	}
	if err := os.Rename(made, app); err != nil {
		return nil, err
	}
	if j.sign {
		// The linker signs the program alone. Signing the bundle ties it to its name and icon; "-" takes no certificate.
		if _, err := run(ctx, j.out, "codesign", "--force", "--sign", "-", app); err != nil {
			return nil, err
		}
	}
	return []string{app}, nil
}
