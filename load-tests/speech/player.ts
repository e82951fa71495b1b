/**
 * A player: takes from the server only what it plays and a second more, and plays against a clock. What it
 * has not got when its turn comes is an underrun; the clock then stands until a tenth of a second is there.
 */
import type { IncomingMessage } from "node:http"

export interface PlayOptions {
  readonly bytesPerSecond: number
  /** 1 is real time. */
  readonly speed?: number
  /** Stops playing then, as a listener who has heard enough. */
  readonly untilMs?: number
  readonly onBytes?: (bytes: Buffer) => void
}

export interface Played {
  readonly underruns: number
  /** When it stood, by `performance.now`, and how long. */
  readonly stands: ReadonlyArray<{ readonly fromMs: number; readonly tookMs: number }>
  readonly bytes: number
  /** Everything came, and the answer ended as one does. */
  readonly isWhole: boolean
}

const tickMs = 20
const bufferSeconds = 1
const startSeconds = 0.1

export const play = (response: IncomingMessage, options: PlayOptions): Promise<Played> =>
  new Promise((resolve) => {
    const { speed = 1, untilMs = Number.POSITIVE_INFINITY } = options
    // A stream of events is played by its size, which is the same share of the audio throughout.
    const rate = (options.bytesPerSecond * speed) / 1_000
    const bufferBytes = options.bytesPerSecond * speed * bufferSeconds
    const startBytes = options.bytesPerSecond * speed * startSeconds
    let [received, position, underruns] = [0, 0, 0]
    const stands: Array<{ fromMs: number; tookMs: number }> = []
    let [isStanding, hasEnded] = [true, false]
    let lastMs = performance.now()

    const take = () => {
      const wanted = Math.min(Math.ceil(position + bufferBytes - received), response.readableLength)
      // Also when nothing is there: reading is what makes the socket read on.
      const bytes = response.read(wanted > 0 ? wanted : 0) as Buffer | null
      if (bytes === null) return
      received += bytes.length
      options.onBytes?.(bytes)
    }
    const advance = (elapsedMs: number) => {
      if (isStanding) {
        const stand = stands.at(-1)
        if (stand !== undefined) stand.tookMs += elapsedMs
        if (received < position + startBytes && !hasEnded) return
        isStanding = false
        return
      }
      position += elapsedMs * rate
      if (position <= received || hasEnded) return
      position = received
      underruns += 1
      stands.push({ fromMs: performance.now(), tookMs: 0 })
      isStanding = true
    }
    const finish = () => {
      clearInterval(timer)
      resolve({ underruns, stands, bytes: received, isWhole: hasEnded && response.complete })
      response.destroy()
    }
    const timer = setInterval(() => {
      const nowMs = performance.now()
      take()
      advance(nowMs - lastMs)
      lastMs = nowMs
      if ((hasEnded && position >= received) || response.destroyed || nowMs >= untilMs) finish()
    }, tickMs)
    response.on("end", () => (hasEnded = true))
    response.on("error", () => undefined)
    response.on("readable", () => undefined)
  })
