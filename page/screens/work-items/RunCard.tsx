import "./work-items.css"
import { useState } from "react"
import { pipeline } from "../../api/apis.ts"
import { Refused } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay, useSession } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Fault } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { placeOf } from "./board.ts"
import { type Fact, sayingOf } from "./facts.ts"
import { useItem, useProjects } from "./items.ts"

/** A work item in one click, and what happens to it. */
export const RunCard = () => {
  const { apis } = useSession()
  const may = useMay("pipeline:read")
  return (
    <section className="card" aria-label="Run a work item">
      <h2>Run a work item</h2>
      {apis.includes("pipeline") && may ? (
        <Trial />
      ) : (
        <p className="soft">No pipeline data: your token cannot read it.</p>
      )}
      <a href="#/work-items">All work items</a>
    </section>
  )
}

const Trial = () => {
  const may = useMay("pipeline:write")
  const projects = useProjects()
  const [id, setId] = useState<string>()
  const [refused, setRefused] = useState<Refused>()
  const project = projects.value?.[0]?.id
  // The configuration may name no agent for items that name none: this one had work before.
  const agent = useResource(
    "an agent",
    async (signal) => (await pipeline.get("/workitems", { query: { limit: "1" }, signal })).items[0]?.agent ?? null
  ).value
  const isFirst = projects.value?.length === 0 || agent === null
  const create = () => {
    if (project === undefined || agent == null) return
    setRefused(undefined)
    const wish = { title: "Oil the gate", projectId: project, agent }
    pipeline.post("/workitems", wish).then(
      (item) => setId(item.id),
      (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      }
    )
  }
  return (
    <>
      {id === undefined ? (
        <p className="soft">
          {isFirst
            ? "No items yet. The first one names an agent, and a project with the address of a repository."
            : "An agent works on a git repository; each step is published as an event."}
        </p>
      ) : (
        <Trace id={id} />
      )}
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="row">
        {isFirst ? (
          <a className="button main" href="#/work-items">
            Create the first
          </a>
        ) : (
          <Button
            kind="main"
            disabled={project === undefined || agent == null}
            notNow={may ? undefined : "Your token cannot create work items: it lacks pipeline:write."}
            onClick={create}
          >
            Create an item
          </Button>
        )}
      </div>
    </>
  )
}

const tracedMax = 6

const Trace = ({ id }: { readonly id: string }) => {
  const { value } = useItem(id)
  if (value === undefined) return null
  const { tone, words } = placeOf(value.item.state)
  const facts = value.records.flatMap(({ at, facts: each, sequence }) =>
    each.map((fact: Fact, index) => ({ key: `${sequence} ${index}`, at, fact }))
  )
  return (
    <>
      <p>
        <a href={`#/work-items/${id}`}>{value.item.title}</a> <Badge tone={tone}>{words}</Badge>
      </p>
      <ol className="trace">
        {facts.slice(-tracedMax).map(({ key, at, fact }) => (
          <li key={key}>
            {sayingOf(fact).words}{" "}
            <span className="soft">
              · <Time at={at} />
            </span>
          </li>
        ))}
      </ol>
      {value.item.state === "Queued" ? (
        <p className="soft">
          It waits for a runner: <code>./starling runner --agent {value.item.agent}</code>
        </p>
      ) : null}
    </>
  )
}
