/** Who calls the models, and which keys of their requests are refused or left out. */
import type { Answer } from "../../api/client.ts"
import { type Column, Table } from "../../design/Table.tsx"
import { count } from "../../design/words.ts"

type Fleet = Answer<"GET", "/fleet">
type Caller = Fleet["callers"][number]
type Key = Fleet["keys"][number]

export const Callers = ({ callers, keys }: Pick<Fleet, "callers" | "keys">) =>
  callers.length === 0 ? null : (
    <>
      <h2>Callers</h2>
      <p className="soft">Since the gateway&rsquo;s processes began.</p>
      <Table label="Callers" rows={callers} columns={callerColumns} keyOf={({ client }) => client} />
      {keys.length === 0 ? null : (
        <Table
          label="Keys of requests"
          rows={keys}
          columns={keyColumns}
          keyOf={({ code, key }) => `${code ?? ""} ${key}`}
        />
      )}
    </>
  )

const callerColumns: ReadonlyArray<Column<Caller>> = [
  { title: "Program", cell: ({ client }) => (client === "other" ? "any other" : client) },
  { title: "Answered", cell: ({ answered }) => count(answered), isNumber: true },
  { title: "Quoted", cell: ({ quoted }) => count(quoted), isNumber: true, isMinor: true },
  { title: "Refused", cell: ({ refused }) => count(refused), isNumber: true },
  { title: "Failed", cell: ({ failed }) => count(failed), isNumber: true }
]

const keyNames: Readonly<Record<string, string>> = { none: "no key is named", other: "any other" }

const keyColumns: ReadonlyArray<Column<Key>> = [
  { title: "Key", cell: ({ key }) => keyNames[key] ?? <code>{key}</code> },
  {
    title: "What became of the call",
    cell: ({ code }) => (code === null ? "answered without the key" : <code>{code}</code>)
  },
  { title: "Calls", cell: ({ calls }) => count(calls), isNumber: true }
]
