/**
 * Server-sent events of this origin. After a break it connects again, and from where it was if the stream can. Many
 * events become one change of the page; an event costs no more than its place in a list until then.
 */
import { useEffect, useRef, useState } from "react"
import { suspect } from "./health.ts"

export type LiveState = "connecting" | "live" | "cut off"

interface LiveOptions<A> {
  /** Null: not connected. */
  readonly address: string | null
  /** Called at most once a frame, with what came since the last call, oldest first; and how much was left out. */
  readonly onBatch: (batch: ReadonlyArray<A>, skippedCount: number) => void
  /** The stream takes `after`, the id of the last event that came. */
  readonly isResumable?: boolean
}

/** A hidden page draws no frames, and a busy one few; of what comes meanwhile it keeps what the longest list shows. */
const waitingMax = 200
/** What one frame takes in: a burst is spread over several, so that none of them holds up a click. */
const atOnceMax = 100
const againAfterMs = 1_500
// Nobody reads faster.
const betweenBatchesMs = 100

export const useLive = <A>({ address, onBatch, isResumable = false }: LiveOptions<A>): LiveState => {
  const [state, setState] = useState<LiveState>("connecting")
  const latest = useRef(onBatch)
  latest.current = onBatch
  const wanted = useRef(address)
  wanted.current = address

  useEffect(() => {
    setState("connecting")
    if (address === null) return
    let waiting: Array<string> = []
    let skippedCount = 0
    let lastId = ""
    let isDue = false
    let again: ReturnType<typeof setTimeout> | undefined
    let next: ReturnType<typeof setTimeout> | undefined
    let frame = 0
    let source: EventSource | undefined
    const flush = () => {
      // The page is already drawn for another stream, whose events these are not.
      if (wanted.current !== address) return
      dropOldest()
      const [batch, skipped] = [waiting.slice(0, atOnceMax), skippedCount]
      waiting = waiting.slice(atOnceMax)
      skippedCount = 0
      isDue = waiting.length > 0
      if (isDue) frame = requestAnimationFrame(flush)
      latest.current(
        batch.map((text) => JSON.parse(text) as A),
        skipped
      )
    }
    const dropOldest = () => {
      skippedCount += Math.max(0, waiting.length - waitingMax)
      waiting = waiting.slice(-waitingMax)
    }
    const onMessage = ({ data, lastEventId }: MessageEvent<string>) => {
      lastId = lastEventId
      waiting.push(data)
      if (waiting.length >= 2 * waitingMax) dropOldest()
      if (isDue) return
      isDue = true
      next = setTimeout(() => {
        frame = requestAnimationFrame(flush)
      }, betweenBatchesMs)
    }
    const connect = () => {
      source = new EventSource(isResumable && lastId !== "" ? withAfter(address, lastId) : address)
      source.addEventListener("open", () => setState("live"))
      source.addEventListener("message", onMessage)
      source.addEventListener("error", () => {
        source?.close()
        setState("cut off")
        suspect()
        again = setTimeout(connect, againAfterMs)
      })
    }
    connect()
    return () => {
      source?.close()
      clearTimeout(again)
      clearTimeout(next)
      cancelAnimationFrame(frame)
    }
  }, [address, isResumable])
  return state
}

const withAfter = (address: string, after: string) => {
  const [path = "", query = ""] = address.split("?", 2)
  const asked = new URLSearchParams(query)
  asked.set("after", after)
  return `${path}?${asked}`
}
