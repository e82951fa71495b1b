/**
 * Reads the headers of a message. A publisher can put any bytes there. The client library throws at a malformed name or
 * value and closes the connection, again on every read of that message. This reader skips a malformed line instead.
 */
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"

const utf8 = new TextDecoder()
const version = "NATS/1.0"
// A token of RFC 9110.
const name = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u
const isText = (value: string) => !/[\r\n]/u.test(value)

export const readHeaders = (bytes: Uint8Array): MsgHdrsImpl => {
  const [first = "", ...lines] = utf8.decode(bytes).split("\r\n")
  const headers = new MsgHdrsImpl(...statusOf(first))
  for (const line of lines) {
    const colon = line.indexOf(":")
    const key = line.slice(0, Math.max(0, colon))
    const value = line.slice(colon + 1).trim()
    if (!name.test(key) || !isText(value)) continue
    const values = headers.headers.get(key)
    if (values === undefined) headers.headers.set(key, [value])
    else values.push(value)
  }
  return headers
}

/** The code and description of an answer without a message, such as `NATS/1.0 404 No Messages`; otherwise 0. */
const statusOf = (line: string): [code: number, description: string] => {
  const [, code = "0", description = ""] = /^(\d{1,9})(.*)$/su.exec(line.slice(version.length).trim()) ?? []
  return [Number(code), description.trim()]
}

/** Makes the client library read headers this way too, for the whole process. */
export const readHeadersSafely = () => {
  MsgHdrsImpl.decode = readHeaders
}
