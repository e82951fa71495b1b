/** Event types: what may be published, by whom and in which shape. */
import { useRoute } from "wouter"
import { addressWith, navigate, useFilters } from "../../address.ts"
import { get, post } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { useMay } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { FilterBar, type FilterField } from "../../design/FilterBar.tsx"
import { Head } from "../../design/Head.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { forgetCatalogue } from "../events/catalogue.ts"
import { sourceWords, stateOf, type TypeRow } from "./state.ts"
import { TypeDrawer } from "./TypeDrawer.tsx"
import { TypeForm } from "./TypeForm.tsx"

const names = ["source", "form"] as const
const sources = ["run-time", "configuration", "fleet"] as const

const Types = () => {
  const mayChange = useMay("console:operate")
  const filters = useFilters(names)
  const { values, linkTo } = filters
  const source = sources.find((known) => known === values.source)
  const [isOne, one] = useRoute("/types/:event")
  const pages = usePages<TypeRow>(`types ${source ?? ""}`, (cursor, signal) =>
    get("/events/catalogue", {
      query: { limit: "100", ...(source === undefined ? {} : { source }), ...(cursor === undefined ? {} : { cursor }) },
      signal
    })
  )
  const close = () => navigate(addressWith("/types", { source: values.source }))
  const changed = () => {
    forgetCatalogue()
    pages.reload()
  }
  return (
    <>
      <Head title="Event types">
        {mayChange ? (
          <Button kind="main" onClick={() => navigate(declareAddress)}>
            Declare a type
          </Button>
        ) : null}
      </Head>
      <FilterBar filters={filters} fields={fields} />
      <Pager pages={pages} what="event types" empty={<NoTypes mayChange={mayChange} />}>
        {(rows) => (
          <Table
            label="Event types"
            rows={rows}
            columns={columns}
            keyOf={({ event }) => event}
            linkOf={({ event }) => linkTo(`/types/${event}`)}
          />
        )}
      </Pager>
      {mayChange && !isOne && values.form === "declare" ? <DeclareType onClose={close} onDone={changed} /> : null}
      {isOne ? <TypeDrawer key={one.event} event={one.event} onClose={close} onChanged={changed} /> : null}
    </>
  )
}

export default Types

const declareAddress = "/types?form=declare"

const fields: ReadonlyArray<FilterField<(typeof names)[number]>> = [
  {
    name: "source",
    label: "Defined in",
    choices: sources.map((value) => ({ value, label: sourceWords[value] }))
  }
]

const columns: ReadonlyArray<Column<TypeRow>> = [
  { title: "Name", cell: ({ event }) => <code>{event}</code> },
  { title: "State", cell: (row) => <Badge tone={stateOf(row).tone}>{stateOf(row).word}</Badge> },
  { title: "Published when", cell: ({ firedWhen }) => (firedWhen === "" ? "–" : firedWhen), isMinor: true },
  { title: "Owners", cell: ({ owners }) => (owners.length === 0 ? "the fleet" : owners.join(", ")), isMinor: "first" },
  { title: "Version", cell: ({ schemaVersion }) => schemaVersion, isMinor: "first" },
  { title: "Defined in", cell: ({ source }) => sourceWords[source], isMinor: true }
]

interface DeclareProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const DeclareType = ({ onClose, onDone }: DeclareProps) => {
  const declare = async (settings: Readonly<Record<string, unknown>>, reason: string) => {
    const { event } = await post("/events/catalogue", { reason, settings })
    onDone()
    navigate(`/types/${event}`)
  }
  return (
    <Drawer title="Declare an event type" onClose={onClose}>
      <TypeForm settings={{}} label="Declare" onSubmit={declare} />
    </Drawer>
  )
}

const NoTypes = ({ mayChange }: { readonly mayChange: boolean }) => (
  <Empty title="None from there yet">
    <p>
      {mayChange ? <a href={`#${declareAddress}`}>Declare one</a> : "An admin declares one here"}, name one under
      Events.Types in the configuration file, or from a terminal:
    </p>
    <pre>./starling types add order.paid --owner internal-services</pre>
  </Empty>
)
