/** English names of the symbols in addresses, and of those that are spelled out. */
const symbols = new Map([
  [".", "dot"],
  ["@", "at"],
  ["/", "slash"],
  ["\\", "backslash"],
  ["-", "dash"],
  ["_", "underscore"],
  [":", "colon"],
  [";", "semicolon"],
  [",", "comma"],
  ["?", "question mark"],
  ["!", "exclamation mark"],
  ["&", "and"],
  ["=", "equals"],
  ["+", "plus"],
  ["#", "hash"],
  ["%", "percent"],
  ["~", "tilde"],
  ["*", "star"],
  ["'", "apostrophe"],
  ['"', "quote"],
  ["(", "open parenthesis"],
  [")", "close parenthesis"],
  ["$", "dollar"]
])

export const symbolName = (character: string): string | undefined => symbols.get(character)

const schemes = ["https://", "http://", "ftp://"]
const afterDots = new Set(
  "com org net edu gov io ai app dev co uk de fr es it br mx eu us info biz me tv ch at nl be pl pt ca au".split(" ")
)
const host = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/iu
const mailbox = /^[a-z0-9._%+-]{1,64}$/iu

/** "www.example.com/a" is "w w w dot example dot com slash a"; undefined where it is no address. */
export const readAddress = (text: string): string | undefined => {
  if (text.length > 300) return undefined
  const at = text.indexOf("@")
  if (at > 0) {
    const isMail = mailbox.test(text.slice(0, at)) && host.test(text.slice(at + 1))
    return isMail ? spell(text) : undefined
  }
  const scheme = schemes.find((scheme) => text.toLowerCase().startsWith(scheme)) ?? ""
  const rest = text.slice(scheme.length)
  const name = rest.slice(0, endOfHost(rest))
  if (!host.test(name)) return undefined
  const isNamed = scheme !== "" || name.toLowerCase().startsWith("www.") || isDomain(name)
  return isNamed ? spell(rest.endsWith("/") ? rest.slice(0, -1) : rest) : undefined
}

const endOfHost = (text: string) => {
  const found = text.search(/[/?#:]/u)
  return found === -1 ? text.length : found
}

// "e.g" and "3.14" have dots too, so only a name with a well-known ending is spoken as an address.
const isDomain = (name: string) => {
  const labels = name.toLowerCase().split(".")
  return afterDots.has(labels.at(-1) ?? "") && (labels.at(-2) ?? "").length > 1
}

const spell = (text: string) => {
  let spoken = ""
  for (const character of text) {
    const name = symbols.get(character)
    spoken += name === undefined ? character : ` ${name} `
  }
  return spoken
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => (word.toLowerCase() === "www" ? "w w w" : word))
    .join(" ")
}
