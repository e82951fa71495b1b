/** What is kept under an id of any kind, each thing below what it belongs to. `/` leads here from every screen. */
import { type SubmitEvent, useEffect, useRef, useState } from "react"
import type { TraceLine } from "#console/api"
import { useFilters } from "../../address.ts"
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { Head } from "../../design/Head.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { printable } from "../../design/shown.ts"
import { Time } from "../../design/Time.tsx"
import "./find.css"
import { pathOf } from "./paths.ts"

const Find = () => {
  const { values, set } = useFilters(["id"])
  const [typed, setTyped] = useState(values.id)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setTyped(values.id), [values.id])
  useEffect(() => field.current?.focus(), [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    set({ id: typed.trim() })
  }
  return (
    <>
      <Head title="Find" />
      <form className="filters" role="search" onSubmit={submit}>
        <Field label="Id" hint="A number, a delivery, a work item, a payer, a transaction, an endpoint, a request">
          {(given) => (
            <input
              {...given}
              ref={field}
              name="find"
              type="search"
              autoComplete="off"
              spellCheck={false}
              maxLength={700}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          )}
        </Field>
        <Button kind="main" type="submit" notNow={typed.trim() === "" ? "Enter an id first." : undefined}>
          Find it
        </Button>
      </form>
      {values.id === "" ? null : <Trace key={values.id} id={values.id} />}
    </>
  )
}

export default Find

const Trace = ({ id }: { readonly id: string }) => {
  const { value, refused, reload } = useResource(`find ${id}`, (signal) => get("/find", { query: { id }, signal }))
  if (value === undefined) {
    return refused === undefined ? <Loading what="what is kept" /> : <Fault refused={refused} onAgain={reload} />
  }
  return (
    <>
      <ul className="found" aria-label="What is kept, each below what it belongs to">
        {value.lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </ul>
      {value.notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
    </>
  )
}

const Line = ({ line }: { readonly line: TraceLine }) => (
  <li className={`below-${Math.min(line.depth, 3)}`}>
    <span className="soft">{line.kind}</span>{" "}
    <a href={`#${pathOf(line)}`}>
      <code>{printable(line.id)}</code>
    </a>{" "}
    {printable(line.text)}{" "}
    {line.at === null ? null : (
      <span className="soft">
        <Time at={line.at} />
      </span>
    )}
  </li>
)
