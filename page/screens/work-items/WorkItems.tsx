import "./work-items.css"
import { useState } from "react"
import { useRoute } from "wouter"
import { pipeline } from "../../api/apis.ts"
import { useFilters } from "../../address.ts"
import { useMay, useSession } from "../../api/signed-in.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Head } from "../../design/Head.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { Agents } from "./Agents.tsx"
import { boardOf, placeOf } from "./board.ts"
import { CreateItem } from "./CreateItem.tsx"
import { ItemPage } from "./ItemPage.tsx"
import { useItems, useProjects, useQueue, type WorkItemRow } from "./items.ts"

/** Work items: a board by state, and a page for each. */
const WorkItems = () => {
  const { apis } = useSession()
  const may = useMay("pipeline:read")
  const [isItem, params] = useRoute("/work-items/:id")
  if (!apis.includes("pipeline")) {
    return (
      <>
        <Head title="Work items" />
        <Empty title="The pipeline is not enabled in this fleet">
          <p>
            Add <code>pipeline-api</code> and <code>sweeper</code> to its roles.
          </p>
        </Empty>
      </>
    )
  }
  if (!may) {
    return (
      <>
        <Head title="Work items" />
        <Empty title="Your token cannot read work items">
          <p>
            It lacks the scope <code>pipeline:read</code>. Its owner can make one that has it, under Tokens.
          </p>
        </Empty>
      </>
    )
  }
  return isItem ? <ItemPage id={params.id} /> : <Board />
}

const Board = () => {
  const filters = useFilters(["project", "words"])
  const { values } = filters
  const items = useItems(values.project)
  const projects = useProjects()
  const mayWrite = useMay("pipeline:write")
  const [isCreating, setCreating] = useState(false)
  const words = values.words.toLowerCase()
  const shown = items.value?.items.filter(({ title, id, externalId }) =>
    `${title} ${id} ${externalId ?? ""}`.toLowerCase().includes(words)
  )
  return (
    <>
      <Head title="Work items">
        <Queue />
        {mayWrite ? (
          <Button kind="main" onClick={() => setCreating(true)}>
            New work item
          </Button>
        ) : null}
      </Head>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: "project",
            label: "Project",
            choices: projects.value?.map(({ id, displayName }) => ({ value: id, label: displayName })) ?? []
          },
          {
            name: "words",
            label: "Search",
            hint: "Words of the title, an id, or your own id",
            accept: (typed) => typed
          }
        ]}
      />
      {items.refused === undefined ? null : <Fault refused={items.refused} onAgain={items.reload} />}
      {shown === undefined ? (
        items.refused === undefined ? (
          <Loading what="the work items" />
        ) : null
      ) : shown.length === 0 ? (
        <NoItems isFiltered={values.words !== "" || values.project !== ""} />
      ) : (
        <Columns items={shown} />
      )}
      {items.value?.isComplete === false ? (
        <p className="soft">The oldest thousand are shown; choose a project to see its own.</p>
      ) : null}
      <Agents />
      {isCreating ? <CreateItem projects={projects.value ?? []} onClose={() => setCreating(false)} /> : null}
    </>
  )
}

const NoItems = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No work items match">
      <p>Remove the filter to see all of them.</p>
    </Empty>
  ) : (
    <Empty title="No work items yet">
      <p>A work item is a task for an agent on a git repository. Create a project and an item, and start a runner:</p>
      <pre tabIndex={0}>./starling runner --agent coder</pre>
      <p>
        The item then goes through work, audit and merge; each step is published as an event. docs/quickstarts.md has a
        whole one to copy.
      </p>
    </Empty>
  )

const columnShownMax = 50

const Columns = ({ items }: { readonly items: ReadonlyArray<WorkItemRow> }) => (
  <div className="board">
    {[...boardOf(items)].map(([name, rows]) => (
      <section key={name} aria-label={name}>
        <h2>
          {name} <span className="soft">{rows.length}</span>
        </h2>
        {rows.slice(0, columnShownMax).map((row) => (
          <ItemCard key={row.id} item={row} />
        ))}
        {rows.length <= columnShownMax ? null : <p className="soft">{rows.length - columnShownMax} older ones</p>}
      </section>
    ))}
  </div>
)

const ItemCard = ({ item }: { readonly item: WorkItemRow }) => {
  const { tone, words } = placeOf(item.state)
  return (
    <a className="item-card" href={`#/work-items/${item.id}`}>
      <strong>{item.title}</strong>
      <span>
        <Badge tone={tone}>{words}</Badge>
      </span>
      <span className="soft">
        {item.projectId} · {item.agent} · <Time at={item.updatedAt} />
        {item.costUsd === null ? null : ` · ${item.costUsd.toFixed(2)} USD`}
      </span>
      {item.lastError === null ? null : <span className="item-error">{item.lastError}</span>}
    </a>
  )
}

/** Whether runners are given anything at all. */
const Queue = () => {
  const queue = useQueue()
  if (queue.value === undefined) return null
  const { state, reason, pausedBy } = queue.value
  return state === "Running" ? (
    <>
      <Badge tone="good">Queue running</Badge>
      <Act
        label="Pause the queue"
        scope="pipeline:operate"
        question="Pause the queue?"
        run={(why) => pipeline.post("/queue/pause", { reason: why }).then(queue.reload)}
      >
        <p>Runners get no new work. Work in progress continues.</p>
      </Act>
    </>
  ) : (
    <>
      <Badge tone="wait">Queue paused</Badge>
      <span className="soft">
        {reason} {pausedBy === null ? "" : `(${pausedBy})`}
      </span>
      <Act
        label="Resume the queue"
        scope="pipeline:operate"
        question="Resume the queue?"
        kind="main"
        run={(why) => pipeline.post("/queue/resume", { reason: why } as never).then(queue.reload)}
      />
    </>
  )
}

export default WorkItems
