/**
 * How long a request holds up the event loop of the process that answers it, compared with parsing its body: in time of
 * this thread on a processor, for which it does not matter what else the machine does.
 */
import { connect } from "node:net"
import { assert } from "@effect/vitest"

// Beside five times a bare JSON.parse: a full garbage collection of a process that holds six roles.
const floorMs = 25
const timesMax = 5
// One try within the bound shows that the work is bounded; in the others the compiler or the collector was at work.
const triesMax = 6

const spentMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

export interface Wire {
  readonly method: string
  readonly url: string
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export interface Heard {
  readonly status: number
  readonly text: string
}

/** Sends a request whose bytes are made beforehand, so that the client in this process costs next to nothing. */
export const exchange = ({ method, url, body, headers = {} }: Wire): Promise<Heard> => {
  const { host, hostname, port, pathname, search } = new URL(url)
  const lines = Object.entries({
    host,
    "content-type": "application/json",
    "content-length": String(body.length),
    connection: "close",
    ...headers
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const parts: Array<Buffer> = []
    socket.on("data", (part) => parts.push(part))
    // A refusal may come before the body is read, and its end with a reset.
    socket.on("error", (error) => (parts.length === 0 ? reject(error) : undefined))
    socket.on("close", () => {
      const text = Buffer.concat(parts).toString("utf8")
      resolve({ status: Number(text.slice(9, 12)), text: text.slice(text.indexOf("\r\n\r\n") + 4) })
    })
    socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`)
    socket.write(body)
  })
}

/** Runs an act beside a beat of the loop; the longest time between two beats. */
export const longestBlockMs = async <A>(
  act: () => Promise<A>
): Promise<{ readonly blockMs: number; readonly got: A }> => {
  let isOver = false
  let longestMs = 0
  let beforeMs = spentMs()
  const beat = () => {
    const nowMs = spentMs()
    longestMs = Math.max(longestMs, nowMs - beforeMs)
    beforeMs = nowMs
    if (!isOver) setImmediate(beat)
  }
  setImmediate(beat)
  const got = await act()
  // The last block may be the one before the answer was heard.
  await new Promise((resolve) => setImmediate(resolve))
  isOver = true
  return { blockMs: longestMs, got }
}

const parseMs = (text: string): number => {
  const startedAtMs = spentMs()
  try {
    JSON.parse(text)
  } catch {
    // What is no JSON is parsed to its fault.
  }
  return spentMs() - startedAtMs
}

/** Fails when the act holds the loop for longer than five times as long as a bare JSON.parse of the same text. */
export const holdsNothingUp = async <A>(name: string, text: string, act: () => Promise<A>): Promise<A> => {
  const seen: Array<string> = []
  for (let tried = 0; tried < triesMax; tried += 1) {
    const bareMs = Math.min(parseMs(text), parseMs(text))
    const { blockMs, got } = await longestBlockMs(act)
    if (blockMs <= timesMax * bareMs + floorMs) return got
    seen.push(`${blockMs.toFixed(1)} ms beside ${bareMs.toFixed(1)} ms`)
  }
  assert.fail(`${name} holds the process up: ${seen.join(", ")}`)
}

const filled = (head: string, each: (at: number) => string, tail: string, bytesMax: number): string => {
  const parts: Array<string> = []
  let left = bytesMax - head.length - tail.length
  for (let at = 0; ; at += 1) {
    const part = each(at)
    left -= part.length + 1
    if (left < 0) return `${head}${parts.join(",")}${tail}`
    parts.push(part)
  }
}

const repeated = (text: string, head: string, tail: string, bytesMax: number) =>
  `${head}${text.repeat(Math.floor((bytesMax - head.length - tail.length) / text.length))}${tail}`

type Filler = (head: string, tail: string, bytesMax: number) => string

const list =
  (each: (at: number) => string): Filler =>
  (head, tail, bytesMax) =>
    filled(`${head}[`, each, `]${tail}`, bytesMax)

/** What stands in the place of a value: everything that a body can have much of. */
const fillers: Readonly<Record<string, Filler>> = {
  zeros: list(() => "0"),
  floats: list(() => "-1.5e+10"),
  "empty objects": list(() => "{}"),
  // As many objects as the gateway takes in ten mebibytes, and messages of the usual length.
  "objects with texts": list(() => `{"a":"${"x".repeat(226)}"}`),
  "long messages in parts": list(() => `{"role":"user","content":[{"type":"text","text":"${"a".repeat(1_000)}"}]}`),
  "empty lists": list(() => "[]"),
  texts: list(() => '"a"'),
  "wrong types": list((at) => ['{"type":7}', '{"role":[]}', "null", "true"][at % 4] ?? "null"),
  "right parts": list(() => '{"type":"text","text":"a"}'),
  messages: list(() => '{"role":"user","content":"a"}'),
  "messages in parts": list(() => '{"role":"user","content":[{"type":"text","text":"a"}]}'),
  "wrong messages": list(() => '{"role":"nobody","content":[{"type":7}],"tool_calls":[{}]}'),
  tools: list((at) => `{"type":"function","function":{"name":"f${at}","parameters":{"type":"object"}}}`),
  "many keys": (head, tail, bytesMax) => filled(`${head}{`, (at) => `"k${at}":0`, `}${tail}`, bytesMax),
  "forbidden keys behind many": (head, tail, bytesMax) =>
    filled(`${head}{`, (at) => `"_${at}":0`, `,"__proto__":1}${tail}`, bytesMax),
  "a long key": (head, tail, bytesMax) => repeated("k", `${head}{"`, `":0}${tail}`, bytesMax),
  "deep lists": (head, tail, bytesMax) => repeated("[", head, tail, bytesMax),
  "deep objects": (head, tail, bytesMax) => repeated('{"a":', head, tail, bytesMax),
  "lists of moderate depth": list(() => `${"[".repeat(20)}${"]".repeat(20)}`),
  "a long text": (head, tail, bytesMax) => repeated("a", `${head}"`, `"${tail}`, bytesMax),
  escapes: (head, tail, bytesMax) => repeated("\\n", `${head}"`, `"${tail}`, bytesMax),
  quotes: (head, tail, bytesMax) => repeated('\\"', `${head}"`, `"${tail}`, bytesMax),
  "unicode escapes": (head, tail, bytesMax) => repeated("\\u00e9", `${head}"`, `"${tail}`, bytesMax),
  "a long number": (head, tail, bytesMax) => repeated("1", head, tail, bytesMax),
  spaces: (head, tail, bytesMax) => repeated(" ", `${head}1`, tail, bytesMax),
  "a fault at the end": (head, tail, bytesMax) => filled(`${head}[`, () => '{"a":1}', `,]${tail}`, bytesMax),
  "an open text": (head, _tail, bytesMax) => filled(`${head}[`, () => '"a"', ',"', bytesMax)
}
const fillerNames = Object.keys(fillers)

/** What stands beside the keys that an object has already. */
export const moreKeys = "more keys"
const moreKeysFiller: Filler = (head, tail, bytesMax) => filled(head, (at) => `"k${at}":0`, tail, bytesMax)

/**
 * The bodies of a place, such as `{"model":"a","messages":@}`, each as large as its route takes. `which`: some of the
 * fillers; all by default.
 */
export const hostileBodies = (place: string, bytesMax: number, which: ReadonlyArray<string> = fillerNames) => {
  const [head = "", tail = ""] = place.split("@")
  return which.map((name) => {
    const fill = name === moreKeys ? moreKeysFiller : fillers[name]
    if (fill === undefined) throw new Error(`no filler is called ${name}`)
    return { name: `${name} in ${place}`, text: fill(head, tail, bytesMax) }
  })
}
