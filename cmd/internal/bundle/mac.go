package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// oldestMac is the oldest macOS that Go supports.
const oldestMac = "12.0"

// bundleMac makes an application bundle.
func bundleMac(ctx context.Context, j job, work string) ([]string, error) {
	made, err := makeApp(ctx, j, work)
	if err != nil {
		return nil, err
	}
	to := filepath.Join(j.out, filepath.Base(made))
	if err := os.RemoveAll(to); err != nil {
		return nil, err
	}
	return []string{to}, os.Rename(made, to)
}

// packMac makes a disk image with the application for both processors and a link to the Applications folder.
func packMac(ctx context.Context, j job, work string) ([]string, error) {
	both := map[string][]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := j.build(ctx, filepath.Join(work, arch), arch); err != nil {
			return nil, err
		}
		for _, program := range []string{j.exe, j.ctl} {
			both[filepath.Base(program)] = append(both[filepath.Base(program)], program)
		}
	}
	for name, programs := range both {
		if _, err := run(ctx, work, "lipo", append([]string{"-create", "-output", filepath.Join(work, name)}, programs...)...); err != nil {
			return nil, err
		}
	}
	j.exe, j.ctl = filepath.Join(work, filepath.Base(j.exe)), filepath.Join(work, filepath.Base(j.ctl))
	made, err := makeApp(ctx, j, work)
	if err != nil {
		return nil, err
	}
	image := filepath.Join(j.out, j.called(".dmg"))
	if err := makeImage(ctx, j, work, made, image); err != nil {
		return nil, err
	}
	return []string{image}, notarise(ctx, j, image)
}

// notarise submits a signed image to Apple's notary service if credentials are set, and staples the ticket to it.
func notarise(ctx context.Context, j job, image string) error {
	id, team, password := os.Getenv("NOTARY_APPLE_ID"), os.Getenv("NOTARY_TEAM_ID"), os.Getenv("NOTARY_PASSWORD")
	if j.identity == "" || id == "" || team == "" || password == "" {
		fmt.Println("not notarised: that takes SIGN_IDENTITY, NOTARY_APPLE_ID, NOTARY_TEAM_ID and NOTARY_PASSWORD")
		return nil
	}
	if _, err := run(ctx, j.out, "codesign", "--force", "--timestamp", "--sign", j.identity, image); err != nil {
		return err
	}
	if _, err := run(ctx, j.out, "xcrun", "notarytool", "submit", image, "--wait", "--apple-id", id, "--team-id", team, "--password", password); err != nil {
		return err
	}
	_, err := run(ctx, j.out, "xcrun", "stapler", "staple", image)
	return err
}

// makeApp makes an application bundle in work with Fyne's packaging tool, adds missing parts, and signs it.
func makeApp(ctx context.Context, j job, work string) (string, error) {
	source := filepath.Join(work, "source")
	// The tool requires a Go file next to the icon, but does not read it.
	if err := os.CopyFS(filepath.Join(source, "assets"), os.DirFS(filepath.Join(j.root, "assets"))); err != nil {
		return "", err
	}
	if err := copyFile(filepath.Join(j.root, "FyneApp.toml"), filepath.Join(source, "FyneApp.toml"), 0o644); err != nil {
		return "", err
	}
	tool, err := run(ctx, j.root, "go", "tool", "-n", "fyne")
	if err != nil {
		return "", err
	}
	if _, err = run(ctx, work, strings.TrimSpace(tool), "package", "--target", "darwin", "--source-dir", source,
		"--executable", j.exe, "--use-raw-icon"); err != nil { // the icon already has rounded corners and a margin
		return "", err
	}
	made := filepath.Join(work, j.app.Details.Name+".app")
	if err := j.app.finishPlist(filepath.Join(made, "Contents", "Info.plist")); err != nil {
		return "", err
	}
	// Sign the contents before the bundle.
	sign := []string{made}
	if j.ctl != "" {
		inside := filepath.Join(made, "Contents", "MacOS", filepath.Base(j.ctl))
		if err := copyFile(j.ctl, inside, 0o755); err != nil {
			return "", err
		}
		sign = []string{inside, made}
	}
	if j.unsigned {
		return made, nil
	}
	// The linker signs only the program. Signing the bundle binds the program to its name and icon; "-" needs no
	// certificate.
	how := []string{"--force", "--sign", "-"}
	if j.identity != "" {
		how = []string{"--force", "--options", "runtime", "--timestamp", "--sign", j.identity}
	}
	for _, path := range sign {
		if _, err := run(ctx, work, "codesign", append(how, path)...); err != nil {
			return "", err
		}
	}
	return made, nil
}

// finishPlist adds the keys of a bundle's Info.plist that the tool does not write.
func (a *app) finishPlist(path string) error {
	// The tool writes no category, and a minimum system older than Go supports.
	return rewrite(path,
		"<string>public.app-category.</string>", "<string>public.app-category.developer-tools</string>",
		"<string>10.11</string>", "<string>"+oldestMac+"</string>",
		"</dict>\n</plist>", strings.NewReplacer("@ID@", a.Details.ID, "@NAME@", a.Details.Name, "@MIME@", mimeType,
			"@ENDING@", strings.TrimPrefix(scenarioGlob, "*.")).Replace(plistAddition)+"</dict>\n</plist>")
}

// plistAddition disables App Nap, which would slow the timers of a run behind other windows. Throng owns scenario files and
// can open any YAML file: a system that only looks at the last extension of a name takes a scenario for YAML.
const plistAddition = `	<key>LSAppNapIsDisabled</key>
	<true/>
	<key>NSAppSleepDisabled</key>
	<true/>
	<key>CFBundleDocumentTypes</key>
	<array>
		<dict>
			<key>CFBundleTypeName</key>
			<string>@NAME@ scenario</string>
			<key>CFBundleTypeRole</key>
			<string>Editor</string>
			<key>CFBundleTypeIconFile</key>
			<string>icon.icns</string>
			<key>LSHandlerRank</key>
			<string>Owner</string>
			<key>LSItemContentTypes</key>
			<array>
				<string>@ID@.scenario</string>
			</array>
		</dict>
		<dict>
			<key>CFBundleTypeName</key>
			<string>YAML</string>
			<key>CFBundleTypeRole</key>
			<string>Editor</string>
			<key>LSHandlerRank</key>
			<string>Alternate</string>
			<key>LSItemContentTypes</key>
			<array>
				<string>public.yaml</string>
			</array>
		</dict>
	</array>
	<key>UTExportedTypeDeclarations</key>
	<array>
		<dict>
			<key>UTTypeIdentifier</key>
			<string>@ID@.scenario</string>
			<key>UTTypeDescription</key>
			<string>@NAME@ scenario</string>
			<key>UTTypeIconFile</key>
			<string>icon.icns</string>
			<key>UTTypeConformsTo</key>
			<array>
				<string>public.yaml</string>
			</array>
			<key>UTTypeTagSpecification</key>
			<dict>
				<key>public.filename-extension</key>
				<array>
					<string>@ENDING@</string>
				</array>
				<key>public.mime-type</key>
				<array>
					<string>@MIME@</string>
				</array>
			</dict>
		</dict>
	</array>
`

// rewrite replaces texts in a file. Each must occur in it.
func rewrite(path string, oldnew ...string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := 0; i < len(oldnew); i += 2 {
		if !bytes.Contains(text, []byte(oldnew[i])) {
			return fmt.Errorf("%s has no %q: the packaging tool has changed", filepath.Base(path), oldnew[i])
		}
		text = bytes.ReplaceAll(text, []byte(oldnew[i]), []byte(oldnew[i+1]))
	}
	return os.WriteFile(path, text, 0o644)
}
