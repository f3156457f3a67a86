// Package opened hears of files that are to be opened in the program that is running already, where the system tells it so.
package opened
