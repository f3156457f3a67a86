// Package opened receives the files that the system asks a running program to open.
package opened
