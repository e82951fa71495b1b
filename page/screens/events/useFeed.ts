/** The live list of events: a page of it at first, then what is published, and older pages for who stops it. */
import { useEffect, useRef, useState } from "react"
import { addressOf, type Answer, get, type Refused } from "../../api/client.ts"
import { type LiveState, useLive } from "../../api/live.ts"
import { useResource } from "../../api/resource.ts"
import { type EventRow, followedFrom, type Kept, taken, withOlder } from "./feed.ts"

export interface EventFilter {
  readonly event: string
  readonly entity: string
  readonly projectId: string
}

export interface Feed {
  /** Undefined until the first are there. */
  readonly lines: ReadonlyArray<EventRow> | undefined
  readonly refused: Refused | undefined
  readonly state: LiveState
  readonly isPaused: boolean
  /** What came since the list was paused. */
  readonly waitingCount: number
  /** What came and is not shown: a list keeps the newest. */
  readonly passedCount: number
  readonly pause: () => void
  readonly resume: () => void
  /** Reads older lines, and pauses the list, which would else push them away. */
  readonly older: () => void
  readonly hasOlder: boolean
}

const firstCount = "50"
const olderCount = "100"
const nothing: Kept = { lines: [], passedCount: 0 }

/** What is not filtered by is left out: the API takes no empty names. */
const given = ({ event, entity, projectId }: EventFilter) => ({
  ...(event === "" ? {} : { event }),
  ...(entity === "" ? {} : { entity }),
  ...(projectId === "" ? {} : { projectId })
})

export const useFeed = (filter: EventFilter): Feed => {
  const key = JSON.stringify(filter)
  const [kept, setKept] = useState({ key, ...nothing })
  const [waiting, setWaiting] = useState(nothing)
  const [isPaused, setPaused] = useState(false)
  const [end, setEnd] = useState<{ readonly cursor: string | null; readonly until: string }>()
  const paused = useRef(false)
  paused.current = isPaused

  const first = useResource(key, (signal) => get("/events", { query: { ...given(filter), limit: firstCount }, signal }))
  const page = first.value?.items
  useEffect(() => {
    setWaiting(nothing)
    setPaused(false)
    setEnd(undefined)
  }, [key])
  const keep = (batch: ReadonlyArray<EventRow>, skippedCount = 0) =>
    setKept((before) => ({ key, ...taken(before.key === key ? before : nothing, batch, skippedCount) }))
  const take = (batch: ReadonlyArray<EventRow>, skippedCount: number) => {
    if (paused.current) setWaiting((before) => taken(before, batch, skippedCount))
    else keep(batch, skippedCount)
  }
  useEffect(() => {
    if (page === undefined) return
    setKept((before) => ({ key, ...taken(before.key === key ? before : nothing, page.toReversed()) }))
  }, [page, key])

  const after = useStart(key, first.value)
  const address =
    after === undefined ? null : addressOf("/events/live", { query: { ...given(filter), after: String(after) } })
  const state = useLive<EventRow>({ address, onBatch: take, isResumable: true })

  const lines = kept.key === key && page !== undefined ? kept.lines : undefined
  const older = () => {
    setPaused(true)
    const until = end?.until ?? lines?.at(-1)?.storedAt
    if (until === undefined) return
    const cursor = end?.cursor
    const asked = { ...given(filter), until, limit: olderCount, ...(cursor == null ? {} : { cursor }) }
    get("/events", { query: asked }).then(
      (answer) => {
        setKept((before) => ({ ...before, key, lines: withOlder(before.lines, answer.items) }))
        setEnd({ cursor: answer.nextCursor, until })
      },
      () => undefined
    )
  }
  return {
    lines,
    refused: first.refused,
    state,
    isPaused,
    waitingCount: waiting.lines.length + waiting.passedCount,
    passedCount: kept.key === key ? kept.passedCount : 0,
    pause: () => setPaused(true),
    resume: () => {
      keep(waiting.lines.toReversed(), waiting.passedCount)
      setWaiting(nothing)
      setEnd(undefined)
      setPaused(false)
    },
    older,
    hasOlder: end === undefined ? first.value?.nextCursor !== null : end.cursor !== null
  }
}

/**
 * After which event the stream begins: that of the first page alone. The stream goes on by itself from there, and a
 * page that is read again moves it nowhere.
 */
const useStart = (key: string, page: Answer<"GET", "/events"> | undefined): number | undefined => {
  const [start, setStart] = useState<{ readonly key: string; readonly after: number }>()
  const isStarted = start?.key === key
  if (!isStarted && page !== undefined) setStart({ key, after: followedFrom(page.items, page.through) })
  return isStarted ? start.after : undefined
}
