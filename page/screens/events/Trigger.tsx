/** Publishes the catalogue's example of an event, with its fields as the form says. */
import { type FormEvent, useMemo, useState } from "react"
import { useFilters } from "../../address.ts"
import { type Answer, get, post, Refused } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { ReasonField, reasonMissing } from "../../design/Act.tsx"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field } from "../../design/Field.tsx"
import { Json } from "../../design/Json.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { useCatalogue } from "./catalogue.ts"
import { type ExampleField, fieldsOf, typedOf, valueOf } from "./fields.ts"
import { Trace } from "./Trace.tsx"

export const eventDefault = "work_item.merged"

export const Trigger = ({ onClose }: { readonly onClose: () => void }) => {
  const { values, set } = useFilters(["event"])
  const known = useCatalogue().value?.items.some(({ event }) => event === values.event) === true
  const event = known ? values.event : eventDefault
  const { value, refused } = useResource(`catalogue ${event}`, (signal) =>
    get("/events/catalogue/:event", { params: { event }, signal })
  )
  return (
    <Drawer title="Trigger an event" onClose={onClose}>
      <ChooseEvent value={event} onChange={(chosen) => set({ event: chosen })} />
      {refused === undefined ? null : <Fault refused={refused} />}
      {value === undefined ? (
        refused === undefined ? (
          <Loading what="its example" />
        ) : null
      ) : (
        <ExampleForm key={event} entry={value} />
      )}
    </Drawer>
  )
}

interface ChooseEventProps {
  readonly value: string
  readonly onChange: (event: string) => void
}

/** The catalogue, by what events are about. */
export const ChooseEvent = ({ value, onChange }: ChooseEventProps) => {
  const { value: catalogue } = useCatalogue()
  const items = catalogue?.items ?? []
  const groups = [...new Set(items.map(({ event }) => groupOf(event)))]
  return (
    <Field label="Event" hint={items.find(({ event }) => event === value)?.firedWhen ?? "One of the catalogue."}>
      {(given) => (
        <select {...given} value={value} onChange={({ target }) => onChange(target.value)}>
          {items.length === 0 ? <option>{value}</option> : null}
          {groups.map((group) => (
            <optgroup key={group} label={group}>
              {items
                .filter(({ event }) => groupOf(event) === group)
                .map(({ event }) => (
                  <option key={event}>{event}</option>
                ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  )
}

const groupOf = (event: string) => event.slice(0, event.indexOf("."))

type Entry = Answer<"GET", "/events/catalogue/:event">
type Published = Answer<"POST", "/events">

const ExampleForm = ({ entry: { event, example, schema } }: { readonly entry: Entry }) => {
  const fields = useMemo(() => fieldsOf(example, schema), [example, schema])
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [reason, setReason] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const [published, setPublished] = useState<Published & { readonly at: string }>()
  const changed = fields.filter(({ path, value }) => typed[path] !== undefined && typed[path] !== typedOf(value))
  const publish = (dryRun: boolean) => {
    const set = Object.fromEntries(changed.map((field) => [field.path, valueOf(typed[field.path] ?? "", field)]))
    setRefused(undefined)
    post("/events", { event, reason, set, dryRun }).then(
      (answer) => setPublished({ ...answer, at: new Date().toISOString() }),
      (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      }
    )
  }
  const submit = (act: FormEvent) => {
    act.preventDefault()
    publish(false)
  }
  return (
    <form className="form" onSubmit={submit}>
      <details open={changed.length > 0}>
        <summary>Change its fields {changed.length === 0 ? "" : `(${changed.length} changed)`}</summary>
        <div className="field-grid">
          {fields.map((field) => (
            <ExampleInput
              key={field.path}
              field={field}
              typed={typed[field.path] ?? typedOf(field.value)}
              fault={refused?.refusal.faults[`set.${field.path}`]}
              onChange={(text) => setTyped({ ...typed, [field.path]: text })}
            />
          ))}
        </div>
      </details>
      <ReasonField value={reason} onChange={setReason} fault={refused?.refusal.faults["reason"]} />
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="actions">
        <Button kind="main" type="submit" notNow={reasonMissing(reason)}>
          Publish
        </Button>
        <Button notNow={reasonMissing(reason)} onClick={() => publish(true)}>
          Preview
        </Button>
      </div>
      {published === undefined ? null : <Result published={published} />}
    </form>
  )
}

interface ExampleInputProps {
  readonly field: ExampleField
  readonly typed: string
  readonly fault: string | undefined
  readonly onChange: (typed: string) => void
}

const ExampleInput = ({ field: { path, value, choices }, typed, fault, onChange }: ExampleInputProps) => (
  <Field label={path} fault={fault} hint={value === null ? "Empty is null." : ""}>
    {(given) =>
      choices.length > 0 || typeof value === "boolean" ? (
        <select {...given} value={typed} onChange={({ target }) => onChange(target.value)}>
          {(choices.length > 0 ? choices : ["true", "false"]).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          {...given}
          autoComplete="off"
          inputMode={typeof value === "number" ? "decimal" : "text"}
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    }
  </Field>
)

interface ResultProps {
  readonly published: Published & { readonly at: string }
}

const Result = ({ published: { sequence, envelope, at } }: ResultProps) =>
  sequence === null ? (
    <section aria-label="What would be published">
      <h3>This would be published</h3>
      <Json value={envelope} />
    </section>
  ) : (
    <section aria-label="Its deliveries" className="form">
      <h3 role="status">
        Published as <a href={`#/events/${sequence}`}>event {sequence}</a>
      </h3>
      <Trace sequence={sequence} storedAt={at} />
    </section>
  )
