/** An act of an operator: a button, and the question behind it, which says the consequence and asks why. */
import { type FormEvent, type ReactNode, useState } from "react"
import { Refused } from "../api/client.ts"
import { useMay } from "../api/signed-in.ts"
import { Button } from "./Button.tsx"
import { Drawer } from "./Drawer.tsx"
import { Field } from "./Field.tsx"
import { Fault } from "./Said.tsx"

interface ActProps {
  readonly label: string
  /** Who lacks it does not see the act. */
  readonly scope: string
  /** The question, as `Pause demo?`. */
  readonly question: string
  /** What happens then. */
  readonly children?: ReactNode
  readonly kind?: "main" | "plain" | "danger"
  /** Why it cannot be done now. */
  readonly notNow?: string | undefined
  /** Does it; when it ends well the question closes. */
  readonly run: (reason: string) => Promise<unknown>
}

export const Act = ({ label, scope, question, children, kind = "plain", notNow, run }: ActProps) => {
  const [isAsking, setAsking] = useState(false)
  if (!useMay(scope)) return null
  return (
    <>
      <Button kind={kind} notNow={notNow} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {isAsking ? (
        <Drawer kind="dialog" title={question} onClose={() => setAsking(false)}>
          <Because label={label} kind={kind} run={run} onDone={() => setAsking(false)}>
            {children}
          </Because>
        </Drawer>
      ) : null}
    </>
  )
}

interface BecauseProps extends Pick<ActProps, "label" | "kind" | "run" | "children"> {
  readonly onDone: () => void
}

const Because = ({ label, kind = "plain", run, children, onDone }: BecauseProps) => {
  const [reason, setReason] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const [isRunning, setRunning] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setRunning(true)
    run(reason)
      .then(onDone)
      .catch((error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      })
      .finally(() => setRunning(false))
  }
  return (
    <form className="form" onSubmit={submit}>
      {children}
      <ReasonField value={reason} onChange={setReason} />
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="actions">
        <Button
          kind={kind === "plain" ? "main" : kind}
          type="submit"
          disabled={isRunning}
          notNow={reasonMissing(reason)}
        >
          {label}
        </Button>
      </div>
    </form>
  )
}

/** Why an act without a reason waits. */
export const reasonMissing = (reason: string) => (reason.trim() === "" ? "Say why first." : undefined)

interface ReasonFieldProps {
  readonly value: string
  readonly onChange: (reason: string) => void
  readonly fault?: string | undefined
}

/** Why an operator does it: every act wants it. */
export const ReasonField = ({ value, onChange, fault }: ReasonFieldProps) => (
  <Field label="Why" hint="Recorded in the audit log with your name." fault={fault}>
    {(given) => (
      <input
        {...given}
        required
        maxLength={500}
        autoComplete="off"
        placeholder="the receiver is back"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
)
