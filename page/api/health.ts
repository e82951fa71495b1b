/**
 * Whether the console and the broker answer. They are asked every few seconds while the page can be seen, and at once
 * when a call or a stream breaks; what recovers is read again by itself.
 */
import { useEffect, useSyncExternalStore } from "react"
import { get, onRefusal, Refused } from "./client.ts"

export type Health = "well" | "console away" | "broker away"

const everyMs = 5_000
const unreachablePollMs = 1_500

let health: Health = "well"
let recoveries = 0
let isAsking = false
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useHealth = () => useSyncExternalStore(subscribe, () => health)
/** Grows whenever what was away is back. */
export const useRecoveries = () => useSyncExternalStore(subscribe, () => recoveries)

/** One cheap read that goes through console and broker. */
const ask = async () => {
  if (isAsking) return
  isAsking = true
  const now = await get("/rejected", { query: { limit: "1" } }).then(
    (): Health => "well",
    (error: unknown) => healthOf(error instanceof Refused ? error.refusal.status : 0)
  )
  isAsking = false
  if (now === health) return
  if (now === "well") recoveries += 1
  health = now
  for (const listener of listeners) listener()
}

/** What a refusal with this status says of the fleet. */
export const healthOf = (status: number): Health => {
  if (status === 0 || status === 502 || status === 504) return "console away"
  return status === 503 ? "broker away" : "well"
}

/** Something broke: asks at once. */
export const suspect = () => void ask()

/** Asks for as long as the shell is there. */
export const useHealthWatch = () => {
  const now = useHealth()
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (document.visibilityState === "visible") suspect()
      },
      now === "well" ? everyMs : unreachablePollMs
    )
    return () => clearInterval(timer)
  }, [now])
  useEffect(
    () =>
      onRefusal(({ refusal: { status } }) => {
        if (healthOf(status) !== "well") suspect()
      }),
    []
  )
}
