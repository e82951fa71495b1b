/** What a screen reads from an API, with its age: loaded once, again on demand, and again every so often. */
import { useCallback, useEffect, useRef, useState } from "react"
import { Refused } from "./client.ts"
import { useRecoveries } from "./health.ts"

export interface Resource<A> {
  /** Undefined until the first answer. A later refusal leaves it as it was. */
  readonly value: A | undefined
  readonly refused: Refused | undefined
  readonly isLoading: boolean
  readonly reload: () => void
  /** Takes what the answer to an act told as the value, which is read again at once. A read under way is broken off. */
  readonly take: (value: A) => void
}

interface Options {
  /** Read again this often while the page can be seen; never without it. */
  readonly everyMs?: number
}

/** `key` says what is read: another key drops the old value and reads anew. */
export const useResource = <A>(
  key: string,
  read: (signal: AbortSignal) => Promise<A>,
  { everyMs }: Options = {}
): Resource<A> => {
  const [state, setState] = useState<{ readonly key: string; readonly value?: A; readonly refused?: Refused }>({ key })
  const [isLoading, setLoading] = useState(true)
  const [round, setRound] = useState(0)
  const latest = useRef(read)
  latest.current = read
  const isReading = useRef(false)
  const recoveries = useRecoveries()
  const reload = useCallback(() => setRound((count) => count + 1), [])
  const take = (value: A) => {
    setState({ key, value })
    reload()
  }

  useEffect(() => {
    const aborter = new AbortController()
    setLoading(true)
    isReading.current = true
    latest
      .current(aborter.signal)
      .then((value) => setState({ key, value }))
      .catch((error: unknown) => {
        if (aborter.signal.aborted) return
        const refused = error instanceof Refused ? error : faultOfOurs(error)
        setState((before) => (before.key === key ? { ...before, refused } : { key, refused }))
      })
      .finally(() => {
        if (aborter.signal.aborted) return
        isReading.current = false
        setLoading(false)
      })
    return () => aborter.abort()
  }, [key, round, recoveries])

  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => {
      // A read that takes longer than this is not begun anew: it would never end.
      if (document.visibilityState === "visible" && !isReading.current) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, reload])

  const isCurrent = state.key === key
  return {
    value: isCurrent ? state.value : undefined,
    refused: isCurrent ? state.refused : undefined,
    isLoading,
    reload,
    take
  }
}

const faultOfOurs = (error: unknown) =>
  new Refused({ status: 0, code: "page_fault", message: `the page could not read it: ${String(error)}`, faults: {} })
