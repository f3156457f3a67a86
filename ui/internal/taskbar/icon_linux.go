package taskbar

import (
	"hash/fnv"
	"log/slog"
	"strconv"
	"sync"

	"github.com/godbus/dbus/v5"
)

// signal is the signal of Unity's launcher protocol (wiki.ubuntu.com/Unity/LauncherAPI).
const signal = "com.canonical.Unity.LauncherEntry.Update"

// platform is the entry of the program in docks that listen on the session bus.
type platform struct {
	uri  string
	path dbus.ObjectPath
	emit func(path dbus.ObjectPath, name string, values ...any) error
	sent chan int // the newest percentage that is not sent yet
}

func newPlatform(id string, _ []byte) platform {
	uri := "application://" + id + ".desktop"
	hash := fnv.New32()
	_, _ = hash.Write([]byte(uri))
	return platform{
		uri: uri, path: dbus.ObjectPath("/com/canonical/unity/launcherentry/" + strconv.Itoa(int(hash.Sum32()))),
		emit: session(), sent: make(chan int, 1),
	}
}

// session returns a function that emits signals on the session bus, to which it connects at the first call.
func session() func(dbus.ObjectPath, string, ...any) error {
	connect := sync.OnceValues(func() (*dbus.Conn, error) { return dbus.SessionBus() })
	return func(path dbus.ObjectPath, name string, values ...any) error {
		bus, err := connect()
		if err != nil {
			return err
		}
		return bus.Emit(path, name, values...)
	}
}

// draw sends the percentage in the background.
func (p *platform) draw(percent int) {
	select {
	case <-p.sent: // outdated
	default:
	}
	p.sent <- percent
	go func() {
		select {
		case percent := <-p.sent:
			p.send(percent)
		default: // a later call sends it
		}
	}()
}

func (p *platform) send(percent int) {
	values := map[string]dbus.Variant{
		"progress": dbus.MakeVariant(float64(max(percent, 0)) / 100), "progress-visible": dbus.MakeVariant(percent != none),
	}
	if err := p.emit(p.path, signal, p.uri, values); err != nil {
		slog.Debug("the dock does not show the progress", "error", err)
	}
}
