/** What a screen says instead of data: that it waits, that there is nothing yet, that it was refused. */
import type { ReactNode } from "react"
import type { Refused } from "../api/client.ts"
import { healthOf, useHealth } from "../api/health.ts"
import { Button } from "./Button.tsx"
import { printable } from "./shown.ts"

/** Nothing yet: what would stand here, and how it comes. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <section className="said">
    <h3>{title}</h3>
    {children}
  </section>
)

export const Loading = ({ what }: { readonly what: string }) => (
  <p className="said" role="status">
    Loading {what} …
  </p>
)

/** In place of a stream that does not come. */
export const NotRead = ({ what }: { readonly what: string }) => (
  <p className="said" role="status">
    {what} cannot be loaded right now. The page retries automatically.
  </p>
)

interface FaultProps {
  readonly refused: Refused
  readonly onAgain?: () => void
}

/** A refusal, each faulty field by its name, and what to do now. `onAgain`: of a read, which does it again. */
export const Fault = ({ refused: { refusal }, onAgain }: FaultProps) => {
  const health = useHealth()
  // The banner says what is away, and what is read comes back with it: an alert of each list would say it again.
  if (onAgain !== undefined && health !== "well" && healthOf(refusal.status) !== "well") return <NotRead what="This" />
  return (
    <section className="said bad" role="alert">
      <h3>{printable(refusal.message)}</h3>
      <p>{adviceFor(refusal.status)}</p>
      <ul>
        {Object.entries(refusal.faults).map(([field, fault]) => (
          <li key={field}>
            <code>{printable(field)}</code> {printable(fault)}
          </li>
        ))}
      </ul>
      {onAgain === undefined ? null : <Button onClick={onAgain}>Try again</Button>}
    </section>
  )
}

const adviceFor = (status: number): string => {
  if (status === 0) return "The page retries automatically. Is the fleet running?"
  if (status === 401) return "The session has ended: sign in again."
  if (status === 403) return "Your token does not allow this. Its owner can make one that does, under Tokens."
  if (status === 404) return "It may have been deleted, or it is past its retention."
  if (status === 409) return "Someone else changed it in the meantime. Reload it and try again."
  if (status === 429) return "Too many requests. Wait a moment."
  if (status === 503)
    return "Something that it depends on is unavailable. It recovers automatically, or Fleet shows what is wrong."
  return status >= 500
    ? "That is an error on our side. The request was not carried out."
    : "Correct what is named here and send it again."
}
