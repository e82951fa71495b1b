/** Bearer tokens: who has one, when it was last used, and how one is made and revoked. */
import { type FormEvent, useState } from "react"
import { type Answer, get, post, Refused } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { Act, ReasonField, reasonMissing } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field } from "../../design/Field.tsx"
import { Once } from "../../design/Once.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty, Fault } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import type { Tone } from "../../design/tone.ts"

type Token = Answer<"GET", "/tokens">["items"][number]

const tones: Readonly<Record<Token["state"], Tone>> = { valid: "good", expired: "quiet", revoked: "quiet" }

export const Tokens = () => {
  const [isMaking, setMaking] = useState(false)
  const pages = usePages<Token>(
    "tokens",
    (cursor, signal) => get("/tokens", { query: cursor === undefined ? {} : { cursor }, signal }),
    10_000
  )
  const columns: ReadonlyArray<Column<Token>> = [
    { title: "Label", cell: ({ label, id }) => label ?? <code>{id}</code> },
    { title: "State", cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
    { title: "Permissions", cell: ({ role, kind, scopes }) => mayOf(role, kind, scopes), isMinor: true },
    {
      title: "Last used",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Time at={lastUsedAt} />),
      isMinor: true
    },
    {
      title: "Expires",
      cell: ({ expiresAt }) => (expiresAt === null ? "never" : <Time at={expiresAt} />),
      isMinor: true
    },
    { title: "Id", cell: ({ id }) => <code>{id}</code>, isMinor: true },
    { title: "Action", cell: (token) => <Revoke token={token} onDone={pages.reload} /> }
  ]
  return (
    <>
      <div className="row above">
        <Button kind="main" onClick={() => setMaking(true)}>
          Make a token
        </Button>
      </div>
      <Pager
        pages={pages}
        what="tokens"
        empty={
          <Empty title="No token in this workspace">
            <p>Create one per person and program, so that each can be revoked on its own.</p>
          </Empty>
        }
      >
        {(rows) => <Table label="Tokens, newest first" rows={rows} columns={columns} keyOf={({ id }) => id} />}
      </Pager>
      {isMaking ? (
        <Drawer title="Make a token" onClose={() => setMaking(false)}>
          <MakeToken onMade={pages.reload} />
        </Drawer>
      ) : null}
    </>
  )
}

const mayOf = (role: Token["role"], kind: Token["kind"], scopes: Token["scopes"]) =>
  `${kind === "service" ? "service" : role}${scopes.length === 0 ? "" : `: ${scopes.join(" ")}`}`

const Revoke = ({
  token: { id, label, state, isOfHome },
  onDone
}: {
  readonly token: Token
  readonly onDone: () => void
}) =>
  state === "valid" ? (
    <Act
      label="Revoke"
      kind="danger"
      scope="tokens:manage"
      question={`Revoke ${label ?? id}?`}
      run={(reason) => post("/tokens/:id/revoke", { reason }, { params: { id } }).then(onDone)}
    >
      <p>
        It is rejected everywhere within five seconds, permanently.
        {isOfHome ? " It is the token that ./starling up stores for this machine's command line." : ""}
      </p>
    </Act>
  ) : null

const roles = ["viewer", "member", "admin", "owner"] as const
type Role = (typeof roles)[number]
const roleWords: Readonly<Record<Role, string>> = {
  viewer: "reads",
  member: "also publishes and redelivers",
  admin: "also pauses, changes and discards",
  owner: "also creates and revokes tokens"
}
const days = [1, 7, 30, 90, 365] as const

const MakeToken = ({ onMade }: { readonly onMade: () => void }) => {
  const [label, setLabel] = useState("")
  const [role, setRole] = useState<Role>("viewer")
  const [scopes, setScopes] = useState("")
  const [lifetime, setLifetime] = useState("90")
  const [reason, setReason] = useState("")
  const [made, setMade] = useState<string>()
  const [refused, setRefused] = useState<Refused>()
  const faults = refused?.refusal.faults ?? {}
  const submit = (act: FormEvent) => {
    act.preventDefault()
    setRefused(undefined)
    const given = scopes.split(/[\s,]+/u).filter((scope) => scope !== "")
    const lifetimeSeconds = lifetime === "" ? null : Number(lifetime) * 86_400
    post("/tokens", { reason, label, role, lifetimeSeconds, ...(given.length === 0 ? {} : { scopes: given }) }).then(
      ({ token }) => {
        setMade(token)
        onMade()
      },
      (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      }
    )
  }
  if (made !== undefined) return <Once what="The token" secret={made} />
  return (
    <form className="form" onSubmit={submit}>
      <Field label="Label" hint="A label to recognise it by." fault={faults["label"]}>
        {(given) => (
          <input {...given} required maxLength={100} value={label} onChange={({ target }) => setLabel(target.value)} />
        )}
      </Field>
      <RoleField role={role} fault={faults["role"]} onChange={setRole} />
      <Field
        label="Scopes"
        hint="Fewer than the role may: console:read audio:*. Empty: all it may."
        fault={faults["scopes"]}
      >
        {(given) => (
          <input {...given} autoComplete="off" value={scopes} onChange={({ target }) => setScopes(target.value)} />
        )}
      </Field>
      <Field label="Lifetime" hint="Prefer tokens that expire." fault={faults["lifetimeSeconds"]}>
        {(given) => (
          <select {...given} value={lifetime} onChange={({ target }) => setLifetime(target.value)}>
            {days.map((count) => (
              <option key={count} value={count}>
                {count === 1 ? "a day" : `${count} days`}
              </option>
            ))}
            <option value="">without end</option>
          </select>
        )}
      </Field>
      <ReasonField value={reason} onChange={setReason} fault={faults["reason"]} />
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="actions">
        <Button kind="main" type="submit" notNow={label === "" ? "Give it a label first." : reasonMissing(reason)}>
          Make it
        </Button>
      </div>
    </form>
  )
}

interface RoleProps {
  readonly role: Role
  readonly fault: string | undefined
  readonly onChange: (role: Role) => void
}

const RoleField = ({ role, fault, onChange }: RoleProps) => (
  <Field label="Role" hint={`A ${role} ${roleWords[role]}.`} fault={fault}>
    {(given) => (
      <select
        {...given}
        value={role}
        onChange={({ target }) => onChange(roles.find((known) => known === target.value) ?? "viewer")}
      >
        {roles.map((known) => (
          <option key={known}>{known}</option>
        ))}
      </select>
    )}
  </Field>
)
