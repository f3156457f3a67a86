package opened

import (
	"log/slog"

	"github.com/ebitengine/purego/objc"
)

// What the system calls an order to open documents, and the list of them in it.
const (
	coreEvents    uint32 = 'a'<<24 | 'e'<<16 | 'v'<<8 | 't'
	openDocuments uint32 = 'o'<<24 | 'd'<<16 | 'o'<<8 | 'c'
	directObject  uint32 = '-'<<24 | '-'<<16 | '-'<<8 | '-'
)

// Files has the system tell of files that are double-clicked or dropped on the icon: it sends an event, at the start and
// later, and starts no second program. It is called before the toolkit starts.
func Files() <-chan string {
	files := make(chan string, 16) // a person opens no more before the window takes them
	class, err := objc.RegisterClass("ThrongOpener", objc.GetClass("NSObject"), nil, nil, []objc.MethodDef{
		{Cmd: objc.RegisterName("ready:"), Fn: hear},
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
	// The application takes such events itself from when it finishes its launch on, so that is when they are taken over.
	objc.ID(objc.GetClass("NSNotificationCenter")).Send(objc.RegisterName("defaultCenter")).
		Send(objc.RegisterName("addObserver:selector:name:object:"), objc.ID(class).Send(objc.RegisterName("new")),
			objc.RegisterName("ready:"), text("NSApplicationWillFinishLaunchingNotification"), objc.ID(0))
	return files
}

// hear has an opener hear of documents to open.
func hear(self objc.ID, _ objc.SEL, _ objc.ID) {
	objc.ID(objc.GetClass("NSAppleEventManager")).Send(objc.RegisterName("sharedAppleEventManager")).
		Send(objc.RegisterName("setEventHandler:andSelector:forEventClass:andEventID:"), self, objc.RegisterName("open:reply:"), coreEvents, openDocuments)
}

// documents are the paths in an event.
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
