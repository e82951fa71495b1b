/** Webhook endpoints: the state of each, and what an operator does about it. */
import { navigate, useFilters, usePath } from "../../address.ts"
import { get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { useMay } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Head } from "../../design/Head.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { useNowMs } from "../../design/Time.tsx"
import { count } from "../../design/words.ts"
import { addAddress, endpointAddress, endpointAt } from "../../endpoint-addresses.ts"
import { EndpointDrawer } from "./EndpointDrawer.tsx"
import { AddEndpoint } from "./EndpointForm.tsx"
import "./endpoints.css"
import { type EndpointRow, stateOf } from "./state.ts"

const Endpoints = () => {
  const mayChange = useMay("console:operate")
  const { values } = useFilters(["form"])
  const name = endpointAt(usePath())
  const pages = usePages<EndpointRow>(
    "endpoints",
    (cursor, signal) =>
      get("/endpoints", { query: { limit: "100", ...(cursor === undefined ? {} : { cursor }) }, signal }),
    3_000
  )
  const close = () => navigate("/endpoints")
  return (
    <>
      <Head title="Endpoints">
        {mayChange ? (
          <Button kind="main" onClick={() => navigate(addAddress)}>
            Add an endpoint
          </Button>
        ) : null}
      </Head>
      <Pager pages={pages} what="endpoints" empty={<NoEndpoints mayChange={mayChange} />}>
        {(rows) => (
          <Table
            label="Webhook endpoints"
            rows={rows}
            columns={columns}
            keyOf={({ name }) => name}
            linkOf={(row) => `#${endpointAddress(row.name)}`}
          />
        )}
      </Pager>
      {mayChange && name === undefined && values.form === "add" ? (
        <AddEndpoint onClose={close} onDone={pages.reload} />
      ) : null}
      {name === undefined ? null : <EndpointDrawer key={name} name={name} onClose={close} onChanged={pages.reload} />}
    </>
  )
}

export default Endpoints

const columns: ReadonlyArray<Column<EndpointRow>> = [
  { title: "Name", cell: ({ name }) => name },
  { title: "State", cell: (row) => <StateBadge endpoint={row} /> },
  { title: "Backlog", cell: ({ backlog }) => count(backlog), isNumber: true },
  {
    title: "Address",
    cell: ({ settings }) => <span className="address">{String(settings?.["Url"] ?? "not readable")}</span>,
    isMinor: true
  },
  {
    title: "Defined in",
    cell: ({ source }) => (source === "configuration" ? "configuration file" : "console"),
    isMinor: "first"
  }
]

export const StateBadge = ({ endpoint }: { readonly endpoint: EndpointRow }) => {
  const { tone, word } = stateOf(endpoint, useNowMs())
  return <Badge tone={tone}>{word}</Badge>
}

const NoEndpoints = ({ mayChange }: { readonly mayChange: boolean }) => (
  <Empty title="No endpoints yet: events are only stored">
    <p>
      {mayChange ? <a href={`#${addAddress}`}>Add one</a> : "An admin adds one here"}, name one under Webhooks in the
      configuration file, or from a terminal:
    </p>
    <pre>./starling endpoints add ci https://ci.example/hooks</pre>
  </Empty>
)
