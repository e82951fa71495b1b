/**
 * Reads the headers of a message. Whoever may publish writes what he likes there, and the client library throws at a
 * name or a value that is none, closes the connection, and does so again at each message that is read again. Here a line
 * that is no header is left out.
 */
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"

const utf8 = new TextDecoder()
const version = "NATS/1.0"
// Of RFC 9110, and the value within its line.
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

/** The code and its description of an answer without a message, `NATS/1.0 404 No Messages`; otherwise 0. */
const statusOf = (line: string): [code: number, description: string] => {
  const [, code = "0", description = ""] = /^(\d{1,9})(.*)$/su.exec(line.slice(version.length).trim()) ?? []
  return [Number(code), description.trim()]
}

/** All messages of this process are read so, by the client library too. */
export const readHeadersSafely = () => {
  MsgHdrsImpl.decode = readHeaders
}
