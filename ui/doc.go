// Package ui is the windows: their screens, the navigation, and closing them. The screens get their data from a [Desk] and give it
// orders.
//
// The visual design, which [Look] implements and every screen takes from the theme:
//
//   - Background: neutral grays, light or dark as the system. Related content is on a panel in a lighter tone; panels are not nested.
//   - Accent: blue, for the next action, the selection and a run in progress. At most one filled button per screen.
//   - States: bluish green, amber and bluish red, which remain distinct for people with color blindness (there is a test), always with
//     a word or a shape. Neutral states are gray, and empty ones are hidden.
//   - Type: 11 captions, 13 text, 16 titles, 22 the most important figures; bold only for titles and figures. All digits have the
//     same width. Numbers are right-aligned and have units.
//   - Spacing: steps of 4, halved inside rows. Related content is closer together than unrelated content.
//   - Scale: everything scales with the text size, from 0.8 to 2, except hairlines and corners.
//   - Focus: the focused widget has a ring or is filled in a tone that is visible on gray and on the accent.
package ui
