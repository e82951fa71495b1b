/** The live list of events: a page of it at first, then what is published, and older pages for who stops it. */
import { useEffect, useState } from "react"
import { addressOf, type Answer, get, type Refused } from "../../api/client.ts"
import { type LiveState, useLive } from "../../api/live.ts"
import { useResource } from "../../api/resource.ts"
import { emptyList, type EventRow, followedFrom, lengthened, type LiveList, received, resumed, taken } from "./feed.ts"

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

/** What is not filtered by is left out: the API takes no empty names. */
const given = ({ event, entity, projectId }: EventFilter) => ({
  ...(event === "" ? {} : { event }),
  ...(entity === "" ? {} : { entity }),
  ...(projectId === "" ? {} : { projectId })
})

export const useFeed = (filter: EventFilter): Feed => {
  const key = JSON.stringify(filter)
  const [{ key: keyShown, list }, setList] = useState({ key, list: emptyList })
  const [end, setEnd] = useState<{ readonly cursor: string | null; readonly until: string }>()
  // Each change is one of the list as it is by then: what came since it was drawn is in it.
  const change = (act: (list: LiveList) => LiveList) =>
    setList((before) => ({ key, list: act(before.key === key ? before.list : emptyList) }))

  const first = useResource(key, (signal) => get("/events", { query: { ...given(filter), limit: firstCount }, signal }))
  const page = first.value?.items
  useEffect(() => setEnd(undefined), [key])
  useEffect(() => {
    if (page === undefined) return
    setList((before) => {
      const { kept, ...rest } = before.key === key ? before.list : emptyList
      return { key, list: { ...rest, kept: taken(kept, page.toReversed()) } }
    })
  }, [page, key])

  const after = useStart(key, first.value)
  const address =
    after === undefined ? null : addressOf("/events/live", { query: { ...given(filter), after: String(after) } })
  const state = useLive<EventRow>({
    address,
    onBatch: (batch, skippedCount) => change((before) => received(before, batch, skippedCount)),
    isResumable: true
  })

  const { isPaused, kept, waiting } = keyShown === key ? list : emptyList
  const lines = keyShown === key && page !== undefined ? kept.lines : undefined
  const pause = () => change((before) => ({ ...before, isPaused: true }))
  const older = () => {
    pause()
    const until = end?.until ?? lines?.at(-1)?.storedAt
    if (until === undefined) return
    const cursor = end?.cursor
    const asked = { ...given(filter), until, limit: olderCount, ...(cursor == null ? {} : { cursor }) }
    get("/events", { query: asked }).then(
      (answer) => {
        // Another filter may be there by now.
        setList((before) => (before.key === key ? { key, list: lengthened(before.list, answer.items) } : before))
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
    passedCount: kept.passedCount,
    pause,
    resume: () => {
      change(resumed)
      setEnd(undefined)
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
