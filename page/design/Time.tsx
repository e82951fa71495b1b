import { useMemo, useSyncExternalStore } from "react"
import { relative } from "./words.ts"

// One clock for every time on the page.
const listeners = new Set<() => void>()
let nowMs = Date.now()
setInterval(() => {
  nowMs = Date.now()
  for (const listener of listeners) listener()
}, 1_000)
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The present, to the second. */
export const useNowMs = () => useSyncExternalStore(subscribe, () => nowMs)

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" })

/** A moment as people say it, with the exact one behind it. */
export const Time = ({ at }: { readonly at: string | number }) => {
  const atMs = useMemo(() => (typeof at === "number" ? at : Date.parse(at)), [at])
  const text = useSyncExternalStore(subscribe, () => relative(atMs, nowMs))
  const exact = useMemo(() => [new Date(atMs).toISOString(), whole.format(atMs)] as const, [atMs])
  return (
    <time dateTime={exact[0]} title={`${exact[1]} (${exact[0]})`}>
      {text}
    </time>
  )
}
