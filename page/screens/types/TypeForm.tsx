/** Declares an event type, or changes one; what is wrong stands at its field. */
import { type FormEvent, useState } from "react"
import { Refused } from "../../api/client.ts"
import { ReasonField, reasonMissing } from "../../design/Act.tsx"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { Fault } from "../../design/Said.tsx"
import { faultsAt, readTyped, type TypeField, typedOf, typeFields } from "./type-form.ts"

type Settings = Readonly<Record<string, unknown>>

interface TypeFormProps {
  /** As it is declared; empty for a new one. */
  readonly settings: Settings
  readonly label: string
  readonly onSubmit: (settings: Settings, reason: string) => Promise<void>
}

export const TypeForm = ({ settings, label, onSubmit }: TypeFormProps) => {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [reason, setReason] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const isNew = settings["Name"] === undefined
  const read = readTyped(settings, typed)
  const faults = { ...refused?.refusal.faults, ...read.faults }
  const submit = (act: FormEvent) => {
    act.preventDefault()
    setRefused(undefined)
    onSubmit(read.settings, reason).catch((error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  return (
    <form className="form" onSubmit={submit}>
      {typeFields
        .filter(({ key }) => isNew || key !== "Name")
        .map((field) => (
          <TypeInput
            key={field.key}
            field={field}
            typed={typed[field.key] ?? typedOf(settings, field)}
            fault={faultsAt(field.key, faults)}
            onChange={(text) => setTyped({ ...typed, [field.key]: text })}
          />
        ))}
      <ReasonField value={reason} onChange={setReason} fault={faults["reason"]} />
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="actions">
        <Button
          kind="main"
          type="submit"
          notNow={Object.keys(read.faults).length > 0 ? "Mend its JSON first." : reasonMissing(reason)}
        >
          {label}
        </Button>
      </div>
    </form>
  )
}

interface TypeInputProps {
  readonly field: TypeField
  readonly typed: string
  readonly fault: string | undefined
  readonly onChange: (typed: string) => void
}

const TypeInput = ({ field: { key, label, hint, kind }, typed, fault, onChange }: TypeInputProps) => (
  <Field label={label} hint={hint} fault={fault}>
    {(given) => {
      if (kind === "switch") {
        return (
          <select {...given} value={typed} onChange={({ target }) => onChange(target.value)}>
            <option value="false">off</option>
            <option value="true">on</option>
          </select>
        )
      }
      if (kind === "json") {
        return (
          <textarea
            {...given}
            rows={8}
            spellCheck={false}
            value={typed}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
      return (
        <input
          {...given}
          required={key === "Name" || key === "Owners"}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    }}
  </Field>
)
