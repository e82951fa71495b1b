/** One event type: all that is true of it, and what an operator does about it. */
import { type ReactNode, useState } from "react"
import { addressWith } from "../../address.ts"
import { type Answer, get, patch } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay } from "../../api/signed-in.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Json } from "../../design/Json.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { sourceWords, stateOf } from "./state.ts"
import { TypeForm } from "./TypeForm.tsx"

type EventType = Answer<"GET", "/events/catalogue/:event">

interface TypeDrawerProps {
  readonly event: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

export const TypeDrawer = ({ event, onClose, onChanged }: TypeDrawerProps) => {
  const [said, setSaid] = useState<ReactNode>()
  const { value, refused, reload, take } = useResource(`type ${event}`, (signal) =>
    get("/events/catalogue/:event", { params: { event }, signal })
  )
  const mayChange = useMay("console:operate")
  const mayPublish = useMay("console:write")
  const change = async (settings: Readonly<Record<string, unknown>>, reason: string) => {
    const body = { reason, revision: value?.revision ?? 0, settings }
    take(await patch("/events/catalogue/:event", body, { params: { event } }))
    setSaid("Changed: it holds for the events from now on.")
    onChanged()
  }
  return (
    <Drawer title={event} onClose={onClose}>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined && refused === undefined ? <Loading what="the event type" /> : null}
      {value === undefined ? null : (
        <>
          <div className="actions">
            <Badge tone={stateOf(value).tone}>{stateOf(value).word}</Badge>
            {value.source === "run-time" ? <Retire type={value} onChange={change} /> : null}
            {mayPublish && !value.isRetired ? (
              <a href={`#${addressWith("/events/trigger", { event })}`}>Trigger one</a>
            ) : null}
          </div>
          <div role="status">{said}</div>
          <TypeFacts type={value} />
          <TypeSchemas type={value} />
          {mayChange && value.source === "run-time" ? (
            <details>
              <summary>Change it</summary>
              <TypeForm key={value.revision} settings={value.settings ?? {}} label="Change" onSubmit={change} />
            </details>
          ) : null}
        </>
      )}
    </Drawer>
  )
}

interface RetireProps {
  readonly type: EventType
  readonly onChange: (settings: Readonly<Record<string, unknown>>, reason: string) => Promise<void>
}

const Retire = ({ type: { event, isRetired }, onChange }: RetireProps) =>
  isRetired ? (
    <Act
      label="Use again"
      scope="console:operate"
      question={`Use ${event} again?`}
      run={(reason) => onChange({ Retired: null }, reason)}
    >
      <p>Its owners may publish it from then on.</p>
    </Act>
  ) : (
    <Act
      label="Retire"
      kind="danger"
      scope="console:operate"
      question={`Retire ${event}?`}
      run={(reason) => onChange({ Retired: true }, reason)}
    >
      <p>It is refused from then on, whoever publishes it. Its events of before are still delivered.</p>
    </Act>
  )

const TypeFacts = ({ type }: { readonly type: EventType }) => (
  <Facts
    facts={[
      ["Published when", type.firedWhen === "" ? null : type.firedWhen],
      ["Owners", type.owners.length === 0 ? "the fleet" : type.owners.join(", ")],
      ["Version", type.schemaVersion],
      ["Goes to", type.isProgress ? "endpoints whose filter asks for it" : "every endpoint whose filter fits"],
      ["Defined in", sourceWords[type.source]],
      ["Revision", type.revision],
      [
        "Faults",
        type.faults.length === 0 ? null : type.faults.map(({ path, message }) => `${path} ${message}`).join("; ")
      ],
      ["Declared", type.created === null ? null : <Time key="created" at={type.created.at} />],
      ["Changed", type.changed === null ? null : <Time key="changed" at={type.changed.at} />]
    ]}
  />
)

const TypeSchemas = ({ type: { settings, schema, example } }: { readonly type: EventType }) => (
  <>
    <section aria-label="Schema">
      <h3>{settings === null ? "Schema of its envelope" : "Schema of its details"}</h3>
      {settings !== null && settings["Schema"] === undefined ? (
        <p className="soft">None: any object, or null.</p>
      ) : (
        <Json value={settings === null ? schema : settings["Schema"]} openLevels={2} />
      )}
    </section>
    <section aria-label="Example">
      <h3>Example</h3>
      <Json value={example} openLevels={3} />
    </section>
  </>
)
