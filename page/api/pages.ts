/** A list that is read page by page, the newest first. */
import { useCallback, useEffect, useRef, useState } from "react"
import { Refused } from "./client.ts"
import { useResource } from "./resource.ts"

export interface Page<Row> {
  readonly items: ReadonlyArray<Row>
  readonly nextCursor: string | null
}

export interface Pages<Row> {
  /** Undefined until the first page is there. */
  readonly rows: ReadonlyArray<Row> | undefined
  readonly refused: Refused | undefined
  readonly isLoading: boolean
  readonly hasMore: boolean
  readonly more: () => void
  readonly reload: () => void
}

type Read<Row> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>

// A page may be empty with a cursor, where few match: so many are looked through before the reader is asked.
const emptyPagesMax = 8

const readOn = async <Row>(read: Read<Row>, cursor: string | undefined, signal: AbortSignal): Promise<Page<Row>> => {
  let page = await read(cursor, signal)
  for (let count = 1; page.items.length === 0 && page.nextCursor !== null && count < emptyPagesMax; count += 1) {
    page = await read(page.nextCursor, signal)
  }
  return page
}

/** `everyMs`: how often the first page is read again, as long as it stands alone. */
export const usePages = <Row>(key: string, read: Read<Row>, everyMs?: number): Pages<Row> => {
  const [older, setOlder] = useState<{ readonly key: string; readonly page: Page<Row> }>()
  const [refused, setRefused] = useState<Refused>()
  const [isReading, setReading] = useState(false)
  const aborter = useRef<AbortController>(undefined)
  const hasOlder = older?.key === key
  const first = useResource(
    key,
    (signal) => readOn(read, undefined, signal),
    everyMs === undefined || hasOlder ? {} : { everyMs }
  )
  useEffect(() => () => aborter.current?.abort(), [key])

  const cursor = hasOlder ? older.page.nextCursor : (first.value?.nextCursor ?? null)
  const before = hasOlder ? older.page.items : []
  const more = () => {
    if (cursor === null || isReading) return
    const { signal } = (aborter.current = new AbortController())
    setReading(true)
    readOn(read, cursor, signal)
      .then(({ items, nextCursor }) => {
        setOlder({ key, page: { items: [...before, ...items], nextCursor } })
        setRefused(undefined)
      })
      .catch((error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      })
      .finally(() => setReading(false))
  }
  const { reload: again } = first
  const reload = useCallback(() => {
    setOlder(undefined)
    again()
  }, [again])
  return {
    rows: first.value === undefined ? undefined : [...first.value.items, ...before],
    refused: first.refused ?? refused,
    isLoading: first.isLoading || isReading,
    hasMore: cursor !== null,
    more,
    reload
  }
}
