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
  /** Called at most ten times a second, with what came since the last call, oldest first. */
  readonly onBatch: (batch: ReadonlyArray<A>) => void
  /** The stream takes `after`, the id of the last event that came. */
  readonly isResumable?: boolean
}

/** A hidden page draws no frames; of what it misses it keeps so many. */
const waitingMax = 1_000
const againAfterMs = 1_500
// Nobody reads faster.
const betweenBatchesMs = 100

export const useLive = <A>({ address, onBatch, isResumable = false }: LiveOptions<A>): LiveState => {
  const [state, setState] = useState<LiveState>("connecting")
  const latest = useRef(onBatch)
  latest.current = onBatch

  useEffect(() => {
    setState("connecting")
    if (address === null) return
    let waiting: Array<string> = []
    let lastId = ""
    let isDue = false
    let again: ReturnType<typeof setTimeout> | undefined
    let next: ReturnType<typeof setTimeout> | undefined
    let frame = 0
    let source: EventSource | undefined
    const flush = () => {
      isDue = false
      const batch = waiting.slice(-waitingMax)
      waiting = []
      latest.current(batch.map((text) => JSON.parse(text) as A))
    }
    const hear = ({ data, lastEventId }: MessageEvent<string>) => {
      lastId = lastEventId
      waiting.push(data)
      if (waiting.length >= 2 * waitingMax) waiting = waiting.slice(-waitingMax)
      if (isDue) return
      isDue = true
      next = setTimeout(() => {
        frame = requestAnimationFrame(flush)
      }, betweenBatchesMs)
    }
    const connect = () => {
      source = new EventSource(isResumable && lastId !== "" ? withAfter(address, lastId) : address)
      source.addEventListener("open", () => setState("live"))
      source.addEventListener("message", hear)
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
