/**
 * Any text as one token of a subject or a key, and back. Letters, digits, `-` and `_` are unchanged, so that ordinary
 * ids stay readable; every other byte of the UTF-8 form is `=` and two hex digits. The empty text is a lone `=`. Tokens
 * sort like the bytes of their texts only if nothing is escaped.
 */

/** A limit far below the broker's own for a subject of a few tokens. */
export const tokenCharactersMax = 512

const escaped = /[^A-Za-z0-9_-]/gu
const plainText = /^[A-Za-z0-9_-]{1,512}$/u
const utf8 = new TextEncoder()
const utf8Strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Throws a RangeError for a text with half a surrogate pair, or one that is too long for a token. */
export const encodeToken = (text: string): string => {
  if (text === "") return "="
  // Most ids need no escape.
  if (plainText.test(text)) return text
  if (!text.isWellFormed()) throw new RangeError("a token cannot hold half a surrogate pair")
  const token = text.replaceAll(escaped, escapedBytes)
  if (token.length > tokenCharactersMax) throw new RangeError(`a token has at most ${tokenCharactersMax} characters`)
  return token
}

const escapedBytes = (character: string) => {
  let token = ""
  for (const byte of utf8.encode(character)) token += `=${byte.toString(16).padStart(2, "0")}`
  return token
}

/** Throws a RangeError for a token that `encodeToken` cannot have produced. */
export const decodeToken = (token: string): string => {
  if (token === "=") return ""
  if (plainText.test(token)) return token
  if (!/^([A-Za-z0-9_-]|=[0-9a-f]{2})+$/u.test(token)) throw new RangeError(`not a token: ${token}`)
  const bytes: Array<number> = []
  for (let at = 0; at < token.length; at += 1) {
    if (token[at] !== "=") bytes.push(token.charCodeAt(at))
    else {
      bytes.push(Number.parseInt(token.slice(at + 1, at + 3), 16))
      at += 2
    }
  }
  const text = utf8Strict.decode(Uint8Array.from(bytes))
  if (encodeToken(text) !== token) throw new RangeError(`not a token: ${token}`)
  return text
}
