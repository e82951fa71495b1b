/** Clients as in the field: slow ones, leaving ones, and their leftovers in the fleet. */
import { readdirSync, readFileSync } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { type Heard, type Listener, listener, type SpeechFleet } from "./speech.ts"

export interface Stream {
  readonly response: IncomingMessage
  /** Leaves, without a word. */
  readonly leave: () => void
}

type Asked = Pick<SpeechFleet, "url" | "token">

/**
 * Asks, and resolves with the head of the answer; nothing of its body is read yet. `patienceMs`: a client that
 * leaves when it has no answer by then.
 */
export const openStream = (fleet: Asked, path: string, body: unknown, patienceMs?: number) =>
  new Promise<Stream>((resolve, reject) => {
    const headers = { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" }
    const asked = request(`${fleet.url}${path}`, { method: "POST", agent: false, headers })
    const leaving = patienceMs === undefined ? undefined : setTimeout(() => asked.destroy(), patienceMs)
    asked.once("close", () => clearTimeout(leaving))
    asked.once("error", reject)
    asked.once("response", (response) => {
      clearTimeout(leaving)
      response.on("error", () => undefined)
      resolve({ response, leave: () => void response.destroy() })
    })
    asked.end(JSON.stringify(body))
  })

/** Waits for the first bytes of the body, and leaves them where they are. */
export const firstBytes = (response: IncomingMessage) =>
  new Promise<void>((resolve) => {
    response.once("readable", resolve)
    response.once("close", resolve)
  })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export interface Paced {
  readonly listener: Listener
  readonly ended: Promise<PacedEnd>
  /** Leaves, without a word. */
  readonly leave: () => void
}

export interface PacedEnd extends Heard {
  /** How much later it ended than its own pace would have had it. */
  readonly lateMs: number
  /** The longest it was kept waiting for bytes it wanted. */
  readonly waitedMs: number
}

/** The stream was refused for want of capacity, or for it would be heard late, and its client told when to come again. */
export class StreamRefused extends Error {}

/** A client of the timestamps stream that takes no more than so many bytes a second. */
export const listenSlowly = async (fleet: Asked, body: unknown, bytesPerSecond: number): Promise<Paced> => {
  const { response, leave } = await openStream(fleet, "/v1/audio/stream/with-timestamps", body)
  const { headers, statusCode } = response
  if ((statusCode === 503 || statusCode === 429) && Number(headers["retry-after"]) > 0) throw new StreamRefused()
  if (statusCode !== 200) throw new Error(`the stream was answered with ${statusCode}`)
  const events = listener()
  const text = new TextDecoder()
  const read = async (): Promise<PacedEnd> => {
    const beganMs = performance.now()
    let [bytes, waitedMs, wantedMs] = [0, 0, beganMs]
    for await (const part of response as AsyncIterable<Buffer>) {
      waitedMs = Math.max(waitedMs, performance.now() - wantedMs)
      bytes += part.length
      events.take(text.decode(part, { stream: true }))
      const aheadMs = (bytes / bytesPerSecond) * 1_000 - (performance.now() - beganMs)
      if (aheadMs > 0) await pause(aheadMs)
      wantedMs = performance.now()
    }
    const lateMs = performance.now() - beganMs - (bytes / bytesPerSecond) * 1_000
    return { ...events.heard(), lateMs, waitedMs }
  }
  const ended = read()
  // The waiter is told; a test that failed before has none.
  ended.catch(() => undefined)
  return { listener: events, ended, leave }
}

export interface Process {
  readonly pid: number
  readonly command: string
}

/** The processes that a process has started and that still run. */
export const childrenOf = (pid: number, part = ""): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1")
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
        const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ")
        const isOne = parent === String(pid) && state !== "Z" && command.includes(part)
        return isOne ? [{ pid: Number(name), command }] : []
      } catch {
        // It ended while we looked.
        return []
      }
    })

/** A process' private and file-backed memory, in megabytes. */
export const residentMegabytes = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "latin1")
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(status)?.[1] ?? 0) / 1_024
}
