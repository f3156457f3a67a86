// Package ui is the windows: their screens, the way between them, and how they end. What the screens show and do they ask
// of a [Desk].
//
// The visual language, which [Look] holds and every screen takes from the theme:
//
//   - Ground: quiet greys, light and dark as the system has it. What belongs together lies on a panel in a lighter tone; no
//     boxes in boxes.
//   - One accent, blue: what a person can do next, what is chosen, and the run itself while it goes on. At most one filled
//     button to a screen.
//   - States: a bluish green, amber and a bluish red, which those who see no red or no green tell apart as well (a test), and
//     never without a word or a shape beside them. What is quiet is grey; what is nothing is left out.
//   - Type: 11 captions, 13 text, 16 titles, 22 the figures that matter most; bold for titles and figures only. Digits are all
//     of one width, so that figures stand below each other; numbers are aligned at the right and have their units.
//   - Spacing: steps of 4, halved inside rows. What belongs together is nearer than what does not.
//   - Scale: everything but hairlines and corners follows the size of the text, from 0.8 to 2.
//   - Focus: what has the keyboard is ringed or filled in a tone that is seen on grey and on the accent.
package ui
