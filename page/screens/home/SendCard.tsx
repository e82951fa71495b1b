import { useState } from "react"
import { post, Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Fault } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { Trace } from "../events/Trace.tsx"
import { ChooseEvent, eventDefault } from "../events/Trigger.tsx"

interface Sent {
  readonly event: string
  readonly sequence: number
  readonly at: string
}

/** Publishes an example, and shows its deliveries as they are made. */
export const SendCard = () => {
  const [event, setEvent] = useState(eventDefault)
  const [sent, setSent] = useState<Sent>()
  const [refused, setRefused] = useState<Refused>()
  const [isSending, setSending] = useState(false)
  const mayPublish = useMay("console:write")
  const send = () => {
    const at = new Date().toISOString()
    setSending(true)
    setRefused(undefined)
    post("/events", { event, reason: "an example from the home screen" })
      .then(({ sequence }) => setSent(sequence === null ? undefined : { event, sequence, at }))
      .catch((error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      })
      .finally(() => setSending(false))
  }
  return (
    <section className="card" aria-label="Send an event">
      <h2>Send an event</h2>
      <p className="soft">A signed example from the catalogue, sent to every matching endpoint.</p>
      <ChooseEvent value={event} onChange={setEvent} />
      <div className="actions">
        {mayPublish ? (
          <Button kind="main" disabled={isSending} onClick={send}>
            Publish it
          </Button>
        ) : (
          <p className="soft">Your token is read-only: publishing needs console:write.</p>
        )}
      </div>
      {refused === undefined ? null : <Fault refused={refused} />}
      {sent === undefined ? null : (
        <>
          <p role="status">
            Published <Time at={sent.at} /> as <a href={`#/events/${sent.sequence}`}>event {sent.sequence}</a>.
          </p>
          <Trace key={sent.sequence} sequence={sent.sequence} storedAt={sent.at} />
        </>
      )}
    </section>
  )
}
