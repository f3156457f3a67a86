package helpmenu

import "github.com/ebitengine/purego/objc"

// Set makes the menu with a title the help menu (NSApplication.helpMenu). The toolkit makes new menus when one changes, so call it often, on
// the UI goroutine. It costs a few messages.
func Set(title string) {
	app := objc.ID(objc.GetClass("NSApplication")).Send(objc.RegisterName("sharedApplication"))
	text := objc.ID(objc.GetClass("NSString")).Send(objc.RegisterName("stringWithUTF8String:"), title)
	all := app.Send(objc.RegisterName("mainMenu")).Send(objc.RegisterName("itemArray")) // nil has none
	for i := range objc.Send[int](all, objc.RegisterName("count")) {
		menu := all.Send(objc.RegisterName("objectAtIndex:"), i).Send(objc.RegisterName("submenu"))
		if menu == 0 || !objc.Send[bool](menu.Send(objc.RegisterName("title")), objc.RegisterName("isEqualToString:"), text) {
			continue
		}
		if app.Send(objc.RegisterName("helpMenu")) != menu {
			app.Send(objc.RegisterName("setHelpMenu:"), menu)
		}
	}
}
