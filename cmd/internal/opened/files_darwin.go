package opened

import (
	"log/slog"

	"github.com/ebitengine/purego/objc"
)

// The Apple event that opens documents, and the keyword of its list of files.
const (
	coreEvents    uint32 = 'a'<<24 | 'e'<<16 | 'v'<<8 | 't'
	openDocuments uint32 = 'o'<<24 | 'd'<<16 | 'o'<<8 | 'c'
	directObject  uint32 = '-'<<24 | '-'<<16 | '-'<<8 | '-'
)

// Files returns a channel of the files that are double-clicked or dropped on the icon. The system sends an event, at the
// start and later, instead of starting a second program. Call it before the toolkit starts.
func Files() <-chan string {
	files := make(chan string, 16) // enough for all files opened before the window reads them
	class, err := objc.RegisterClass("ThrongOpener", objc.GetClass("NSObject"), nil, nil, []objc.MethodDef{
		{Cmd: objc.RegisterName("ready:"), Fn: listen},
		{Cmd: objc.RegisterName("open:reply:"), Fn: func(_ objc.ID, _ objc.SEL, event, _ objc.ID) {
			for _, file := range documents(event) {
				select {
				case files <- file:
				default:
				}
			}
		}},
	})
	if err != nil {
		slog.Warn("files are not opened by double-click", "error", err)
		return nil
	}
	// The application installs its own handler when it finishes launching, so this handler is installed after that.
	objc.ID(objc.GetClass("NSNotificationCenter")).Send(objc.RegisterName("defaultCenter")).
		Send(objc.RegisterName("addObserver:selector:name:object:"), objc.ID(class).Send(objc.RegisterName("new")),
			objc.RegisterName("ready:"), text("NSApplicationWillFinishLaunchingNotification"), objc.ID(0))
	return files
}

// listen registers an opener for events that open documents.
func listen(self objc.ID, _ objc.SEL, _ objc.ID) {
	objc.ID(objc.GetClass("NSAppleEventManager")).Send(objc.RegisterName("sharedAppleEventManager")).
		Send(objc.RegisterName("setEventHandler:andSelector:forEventClass:andEventID:"), self, objc.RegisterName("open:reply:"), coreEvents, openDocuments)
}

// documents returns the paths in an event.
func documents(event objc.ID) (paths []string) {
	list := event.Send(objc.RegisterName("paramDescriptorForKeyword:"), directObject)
	if list == 0 {
		return nil
	}
	for i := range objc.Send[int](list, objc.RegisterName("numberOfItems")) {
		url := list.Send(objc.RegisterName("descriptorAtIndex:"), i+1).Send(objc.RegisterName("fileURLValue")) // nothing has nothing
		if path := url.Send(objc.RegisterName("path")); path != 0 {
			paths = append(paths, objc.Send[string](path, objc.RegisterName("UTF8String")))
		}
	}
	return paths
}

func text(s string) objc.ID {
	return objc.ID(objc.GetClass("NSString")).Send(objc.RegisterName("stringWithUTF8String:"), s)
}
