package language

// pending are the rooms that are not rewritten yet: single files, folders without those below them, and folders with all below them, which
// end in "/...". A room leaves this list for good once its last hit is gone. Only code that moves out of a pending room may be added.
var pending = []string{
}
