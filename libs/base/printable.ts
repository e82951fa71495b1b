/**
 * Text from outside on a screen. A control character can move the cursor, set the title or the clipboard and clear what
 * was shown; one that changes the direction of text makes a name look like another; half a surrogate pair is not a
 * character. They are shown as JSON escapes them. Pure, and without imports: what prints help loads it too.
 */

// Line ends and tabs are a text's layout; the rest of C0, DEL, C1 and Unicode's line ends are not.
const controls = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029"
const directions = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"

const unprintable = new RegExp(`[${controls}${directions}\\p{Cs}]`, "gu")

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The text with an escape in place of each character that a terminal would obey. JSON stays the same JSON. */
export const printable = (text: string): string => text.replaceAll(unprintable, escaped)

/** The same on one line. */
export const printableLine = (text: string): string => printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t")

const direction = new RegExp(`[${directions}]`, "u")
const control = /[\p{Cc}\u2028\u2029]/u

/** What is wrong with a name that others see and commands accept; undefined for a valid one. */
export const faultOfName = (name: string): string | undefined => {
  if (!name.isWellFormed()) return "holds half a character"
  if (control.test(name)) return "holds a control character"
  if (direction.test(name)) return "holds a character that changes the direction of text"
  // A path of nothing but dots names another place, and a blank name is no name.
  return /^[\s.]*$/u.test(name) && name !== "" ? "needs more than dots and blanks" : undefined
}
