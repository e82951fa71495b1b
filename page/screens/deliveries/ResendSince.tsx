/** Sends everything to an endpoint again since a time. How many that are is counted first. */
import { type FormEvent, useState } from "react"
import { useFilters } from "../../address.ts"
import { post, Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { ReasonField, reasonMissing } from "../../design/Act.tsx"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Fault } from "../../design/Said.tsx"
import { When } from "../../design/When.tsx"
import { countOf } from "../../design/words.ts"

export const ResendSince = () => {
  const [isOpen, setOpen] = useState(false)
  if (!useMay("console:write")) return null
  return (
    <>
      <Button onClick={() => setOpen(true)}>Send again since …</Button>
      {isOpen ? (
        <Drawer kind="dialog" title="Send again since a time" onClose={() => setOpen(false)}>
          <ResendForm />
        </Drawer>
      ) : null}
    </>
  )
}

const hourMs = 3_600_000

const ResendForm = () => {
  const { values } = useFilters(["endpoint", "event"])
  const [endpoint, setEndpoint] = useState(values.endpoint)
  const [since, setSince] = useState(() => new Date(Date.now() - hourMs).toISOString())
  const [isFailedOnly, setFailedOnly] = useState(true)
  const [reason, setReason] = useState("")
  const [counted, setCounted] = useState<{ readonly of: string; readonly count: number }>()
  const [sent, setSent] = useState<number>()
  const [refused, setRefused] = useState<Refused>()
  const asked = {
    endpoint,
    since,
    ...(isFailedOnly ? { outcome: "failed" as const } : {}),
    ...(values.event === "" ? {} : { event: values.event })
  }
  const key = JSON.stringify(asked)
  const count = counted?.of === key ? counted.count : undefined
  const submit = (act: FormEvent) => {
    act.preventDefault()
    setRefused(undefined)
    const dryRun = count === undefined
    post("/deliveries/resend", { ...asked, reason, dryRun }).then(
      (answer) => (dryRun ? setCounted({ of: key, count: answer.count }) : setSent(answer.count)),
      (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      }
    )
  }
  if (sent !== undefined) return <p role="status">{countOf(sent, "delivery", "deliveries")} sent again.</p>
  return (
    <form className="form" onSubmit={submit}>
      <Field label="Endpoint" hint="The endpoint's name. A deleted endpoint gets nothing.">
        {(given) => <input {...given} required value={endpoint} onChange={({ target }) => setEndpoint(target.value)} />}
      </Field>
      <When label="Attempted since" value={since} onChange={setSince} />
      <label className="row">
        <input type="checkbox" checked={isFailedOnly} onChange={({ target }) => setFailedOnly(target.checked)} />
        Only those with a failed attempt
      </label>
      {values.event === "" ? null : (
        <p className="soft">
          Only of <code>{values.event}</code>, as the list is filtered.
        </p>
      )}
      <ReasonField value={reason} onChange={setReason} />
      {refused === undefined ? null : <Fault refused={refused} />}
      {count === undefined ? null : (
        <p role="status">
          <strong>{countOf(count, "delivery", "deliveries")}</strong> would be sent, each once and as a new delivery.
        </p>
      )}
      <div className="actions">
        <Button
          kind="main"
          type="submit"
          notNow={
            notNowIf(
              [endpoint === "", "Name an endpoint first."],
              [since === "", "Choose a time first."],
              [count === 0, "Nothing matches."]
            ) ?? reasonMissing(reason)
          }
        >
          {count === undefined ? "Count them" : `Send ${countOf(count, "delivery", "deliveries")}`}
        </Button>
      </div>
    </form>
  )
}
