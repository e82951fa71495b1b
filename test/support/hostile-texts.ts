/** What others may write so that a screen shows something else: by what it does. */
export const hostileTexts: Readonly<Record<string, string>> = {
  "sets a title": "\u001b]0;mine\u0007",
  "writes to the clipboard": "\u001b]52;c;cm0gLXJmIH4=\u0007",
  "clears the screen": "\u001b[2J\u001b[H",
  "goes back over a line": "failed\rdelivered",
  "rubs out": "failed\b\b\b\b\b\bok",
  "is a control of eight bits": "\u009b2J\u009d0;mine\u009c",
  "is a delete": "a\u007fb",
  "is a null": "a\u0000b",
  "turns text around": "invoice\u202egpj.exe",
  "isolates a direction": "\u2067admin\u2069",
  "marks a direction": "a\u200fb\u061cc\u200e",
  "ends a line of Unicode": "a\u2028b\u2029c",
  "is half a character": "a\ud800b"
}

/** Whether a terminal shows nothing but what stands there, and each line where it stands. */
export const isSafe = (text: string): boolean =>
  text.isWellFormed() && !/[[\p{Cc}--[\n\t]]\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/v.test(text)
