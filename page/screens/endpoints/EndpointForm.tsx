/** Adds an endpoint, or changes the settings of one. */
import { type FormEvent, type ReactNode, useState } from "react"
import { navigate } from "../../address.ts"
import { patch, post, Refused } from "../../api/client.ts"
import { ReasonField, reasonMissing } from "../../design/Act.tsx"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field } from "../../design/Field.tsx"
import { Once } from "../../design/Once.tsx"
import { Fault } from "../../design/Said.tsx"
import { endpointAddress } from "../../endpoint-addresses.ts"
import { CredentialInputs } from "./Credentials.tsx"
import {
  changedSettings,
  type Credentials,
  filtersIn,
  givenCredentials,
  newSecret,
  newSettings,
  type SettingField,
  settingFields,
  typedOf
} from "./endpoint-form.ts"
import { FilterTrial } from "./FilterTrial.tsx"
import type { EndpointRow } from "./state.ts"

export const makeSecret = () => newSecret(crypto.getRandomValues(new Uint8Array(32)))

interface AddProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

export const AddEndpoint = ({ onClose, onDone }: AddProps) => {
  const [secret] = useState(makeSecret)
  const [isSigned, setSigned] = useState(true)
  const [credentials, setCredentials] = useState<Credentials>({})
  const [made, setMade] = useState<EndpointRow>()
  const add = async (typed: Readonly<Record<string, string>>, reason: string) => {
    const signing = isSigned ? { secret, standardWebhooksSecret: secret } : {}
    const settings = newSettings(typed)
    const view = await post("/endpoints", { reason, settings, ...signing, ...givenCredentials(credentials) })
    setMade(view)
    onDone()
  }
  return (
    <Drawer title="Add an endpoint" onClose={onClose}>
      {made === undefined ? (
        <SettingsForm settings={{}} label="Add" onSubmit={add}>
          <label className="row">
            <input type="checkbox" checked={isSigned} onChange={({ target }) => setSigned(target.checked)} />
            Sign what it gets, with a new secret that is shown once
          </label>
          <CredentialInputs typed={credentials} onChange={setCredentials} />
        </SettingsForm>
      ) : (
        <>
          <p role="status">
            <strong>{made.name}</strong> gets every event it wants from now on.
          </p>
          {isSigned ? <Once what="Its secret" secret={secret} /> : null}
          <Button kind="main" onClick={() => navigate(endpointAddress(made.name))}>
            Open it
          </Button>
        </>
      )}
    </Drawer>
  )
}

interface ChangeProps {
  readonly endpoint: EndpointRow
  readonly onDone: (changed: EndpointRow) => void
}

export const ChangeEndpoint = ({ endpoint: { name, revision, settings }, onDone }: ChangeProps) => {
  const change = async (typed: Readonly<Record<string, string>>, reason: string) => {
    const changes = changedSettings(settings ?? {}, typed)
    const body = { reason, revision: revision ?? 0, settings: changes }
    onDone(await patch("/endpoints/:name", body, { params: { name } }))
  }
  return <SettingsForm settings={settings ?? {}} label="Change" onSubmit={change} isName={false} />
}

interface SettingsFormProps {
  readonly settings: Readonly<Record<string, unknown>>
  readonly label: string
  /** Whether the name can still be chosen. */
  readonly isName?: boolean
  readonly onSubmit: (typed: Readonly<Record<string, string>>, reason: string) => Promise<void>
  readonly children?: ReactNode
}

/** They stand before the rest, which few change. */
const firstFields = ["Name", "Url", "EventFilter", "ContentFilter"]

const isFirst = ({ key }: SettingField) => firstFields.includes(key)

/** What is wrong with a setting, or with a part of it. */
const faultOf = (refused: Refused | undefined, key: string) =>
  Object.entries(refused?.refusal.faults ?? {}).find(([field]) =>
    `${field.replace(/^settings\./u, "")}.`.startsWith(`${key}.`)
  )?.[1]

const SettingsForm = ({ settings, label, isName = true, onSubmit, children }: SettingsFormProps) => {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [reason, setReason] = useState("")
  const [refused, setRefused] = useState<Refused>()
  const submit = (act: FormEvent) => {
    act.preventDefault()
    setRefused(undefined)
    onSubmit(typed, reason).catch((error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  const input = (field: SettingField) => (
    <SettingInput
      key={field.key}
      field={field}
      isRequired={isName && ["Name", "Url"].includes(field.key)}
      typed={typed[field.key] ?? typedOf(settings, field)}
      fault={faultOf(refused, field.key)}
      onChange={(text) => setTyped({ ...typed, [field.key]: text })}
    />
  )
  const fields = isName ? settingFields : settingFields.filter(({ key }) => key !== "Name")
  return (
    <form className="form" onSubmit={submit}>
      {fields.filter(isFirst).map(input)}
      <FilterTrial filters={filtersIn(settings, typed)} />
      <details open={!isName}>
        <summary>Retries, limits and the rest</summary>
        <div className="form">{fields.filter((field) => !isFirst(field)).map(input)}</div>
      </details>
      {children}
      <ReasonField value={reason} onChange={setReason} fault={refused?.refusal.faults["reason"]} />
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="actions">
        <Button kind="main" type="submit" notNow={reasonMissing(reason)}>
          {label}
        </Button>
      </div>
    </form>
  )
}

interface SettingInputProps {
  readonly field: SettingField
  readonly isRequired: boolean
  readonly typed: string
  readonly fault: string | undefined
  readonly onChange: (typed: string) => void
}

const SettingInput = ({ field, isRequired, typed, fault, onChange }: SettingInputProps) => (
  <Field label={field.label} hint={field.hint} fault={fault}>
    {(given) =>
      field.kind === "choice" || field.kind === "switch" ? (
        <select {...given} value={typed} onChange={({ target }) => onChange(target.value)}>
          {field.kind === "switch" ? (
            <>
              <option value="true">on</option>
              <option value="false">off</option>
            </>
          ) : (
            ["", ...(field.choices ?? [])].map((choice) => (
              <option key={choice} value={choice}>
                {choice === "" ? "default" : choice}
              </option>
            ))
          )}
        </select>
      ) : field.kind === "json" ? (
        <textarea
          {...given}
          rows={3}
          spellCheck={false}
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <input
          {...given}
          required={isRequired}
          autoComplete="off"
          spellCheck={false}
          inputMode={field.kind === "number" ? "decimal" : "text"}
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    }
  </Field>
)
