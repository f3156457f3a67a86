// Empty: a package with a function from elsewhere (go:linkname) has a file of assembly.
