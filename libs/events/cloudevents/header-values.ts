/** The values of attributes in headers, as the HTTP and NATS bindings percent-encode them. Pure. */

const utf8 = new TextEncoder()
const strictUtf8 = new TextDecoder("utf-8", { fatal: true })

const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`

/** Only visible ASCII is left as it is, and of that neither quotes nor percent signs. */
export const encodedHeaderValue = (text: string): string =>
  text.replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, (character) => Array.from(utf8.encode(character), hex).join(""))

/** Undefined where the encoded bytes are no UTF-8. A percent sign that encodes nothing stands for itself. */
export const decodedHeaderValue = (value: string): string | undefined => {
  const text = unquoted(value.trim())
  if (!text.includes("%")) return text
  const bytes: Array<number> = []
  for (let at = 0; at < text.length;) {
    const encoded = /^%[0-9A-Fa-f]{2}/u.test(text.slice(at, at + 3))
    if (encoded) bytes.push(Number.parseInt(text.slice(at + 1, at + 3), 16))
    else bytes.push(...utf8.encode(String.fromCodePoint(text.codePointAt(at) ?? 0)))
    at += encoded ? 3 : String.fromCodePoint(text.codePointAt(at) ?? 0).length
  }
  try {
    return strictUtf8.decode(new Uint8Array(bytes))
  } catch {
    return undefined
  }
}

/** Earlier releases of the bindings wrote quoted strings. */
const unquoted = (text: string) =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/gsu, "$1") : text
