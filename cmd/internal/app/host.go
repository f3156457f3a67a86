package app

import "math/rand/v2"

func randomLetters(n int) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return string(text)
}
