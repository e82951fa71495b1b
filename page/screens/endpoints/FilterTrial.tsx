/** What an endpoint with these filters would have got of the last hundred events, before it is saved. */
import { useState } from "react"
import { type Answer, post, Refused } from "../../api/client.ts"
import { Button } from "../../design/Button.tsx"
import { Fault } from "../../design/Said.tsx"
import { printable } from "../../design/shown.ts"
import { Time } from "../../design/Time.tsx"

type Trial = Answer<"POST", "/endpoints/try-filter">

export const FilterTrial = ({ filters }: { readonly filters: Readonly<Record<string, unknown>> }) => {
  const [trial, setTrial] = useState<Trial>()
  const [refused, setRefused] = useState<Refused>()
  const run = () => {
    setRefused(undefined)
    setTrial(undefined)
    post("/endpoints/try-filter", { settings: filters }).then(setTrial, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  return (
    <section aria-label="Trial of the filters">
      <Button onClick={run}>Try on the last events</Button>
      {refused === undefined ? null : <Fault refused={refused} />}
      <div role="status">{trial === undefined ? null : <Shown trial={trial} />}</div>
    </section>
  )
}

const Shown = ({ trial: { examined, fitting, shown, others } }: { readonly trial: Trial }) => (
  <>
    <p>
      {fitting} of the last {examined} events fit.
    </p>
    <ul className="trace-list">
      {shown.map((event) => (
        <Tried key={event.sequence} event={event} verdict="fits" />
      ))}
      {others.map(({ path, found, ...event }) => (
        <Tried key={event.sequence} event={event} verdict={`${path} is ${found ?? "absent"}`} />
      ))}
    </ul>
  </>
)

interface TriedProps {
  readonly event: Trial["shown"][number]
  readonly verdict: string
}

const Tried = ({ event: { sequence, event, storedAt }, verdict }: TriedProps) => (
  <li>
    <a href={`#/events/${sequence}`}>
      <code>{printable(event)}</code>
    </a>
    <span className="soft">
      <Time at={storedAt} />, {printable(verdict)}
    </span>
  </li>
)
