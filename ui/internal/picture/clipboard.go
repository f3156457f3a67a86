package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// tool is a program of the system that puts a PNG onto the clipboard: the toolkit's own clipboard has room for text only.
type tool struct {
	name string
	args []string // {} stands for a file; without one the program reads its input
}

// tools are those of an operating system, the first that is there is taken.
func tools(system string, wayland bool) []tool {
	wl := tool{"wl-copy", []string{"--type", "image/png"}}
	x := tool{"xclip", []string{"-selection", "clipboard", "-target", "image/png", "-in"}}
	switch {
	case system == "darwin":
		return []tool{{"osascript", []string{"-e", `set the clipboard to (read (POSIX file "{}") as «class PNGf»)`}}}
	case system == "windows":
		return []tool{{"powershell", []string{
			"-NoProfile", "-STA", "-Command",
			`Add-Type -AssemblyName System.Windows.Forms,System.Drawing; [System.Windows.Forms.Clipboard]::SetImage([System.Drawing.Image]::FromFile('{}'))`,
		}}}
	case wayland:
		return []tool{wl, x}
	}
	return []tool{x, wl}
}

// patience is how long a program may take.
const patience = 10 * time.Second

var errNoTool = errors.New("this system has no program that takes a picture; install wl-clipboard or xclip, or save it as a file")

// Copy puts a picture onto the clipboard. It may take a while.
func Copy(img image.Image) error {
	for _, t := range tools(runtime.GOOS, os.Getenv("WAYLAND_DISPLAY") != "") {
		if path, err := exec.LookPath(t.name); err == nil {
			return t.copy(path, img)
		}
	}
	return errNoTool
}

// copy has the program at a path take a picture. Programs that stay to serve the clipboard are not waited for: they close
// nothing that they inherited, so they get files and no pipes.
func (t *tool) copy(path string, img image.Image) error {
	dir, err := os.MkdirTemp("", "throng-picture-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays there is no more than a picture
	file, said := filepath.Join(dir, "picture.png"), filepath.Join(dir, "said.txt")
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, img); err != nil {
		return err
	}
	if err := os.WriteFile(file, encoded.Bytes(), 0o600); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was read only
	out, err := os.Create(said)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // what it holds is read below
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := make([]string, len(t.args))
	for i, arg := range t.args {
		args[i] = strings.ReplaceAll(arg, "{}", file)
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Stdin, c.Stdout, c.Stderr = in, out, out
	if err := c.Run(); err != nil {
		text, _ := os.ReadFile(said) // without it the error says less
		return fmt.Errorf("%s: %w %s", t.name, err, bytes.TrimSpace(text))
	}
	return nil
}
