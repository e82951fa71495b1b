import { useFilters } from "../../address.ts"
import { type Answer, get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Badge } from "../../design/Badge.tsx"

type Setting = Answer<"GET", "/settings">["items"][number]

/** Every setting with where its value comes from. */
export const Effective = () => {
  const filters = useFilters(["section"])
  const { values } = filters
  const pages = usePages<Setting>(`settings ${values.section}`, (cursor, signal) => {
    const ofSection = values.section === "" ? {} : { section: values.section }
    return get("/settings", {
      query: { ...ofSection, limit: "200", ...(cursor === undefined ? {} : { cursor }) },
      signal
    })
  })
  return (
    <>
      <FilterBar
        filters={filters}
        fields={[{ name: "section", label: "Section", hint: "The first word of a key: Bus, Console, Payments" }]}
      />
      <Pager
        pages={pages}
        what="settings"
        empty={
          <Empty title="No section has this name">
            <p>Sections are the first word of a key: Bus is the section of Bus.Url.</p>
          </Empty>
        }
      >
        {(rows) => <Table label="Settings" rows={rows} columns={columns} keyOf={({ key }) => key} />}
      </Pager>
    </>
  )
}

const columns: ReadonlyArray<Column<Setting>> = [
  {
    title: "Key",
    cell: ({ key, why }) => (
      <>
        <Key of={key} />
        <div className="soft minor">{why}</div>
      </>
    )
  },
  { title: "Value", cell: (setting) => <Value setting={setting} /> },
  { title: "Source", cell: ({ source }) => source, isMinor: true },
  { title: "Variable", cell: ({ variable }) => (variable === null ? "–" : <code>{variable}</code>), isMinor: true }
]

/** It is broken after its section, where it has to be. */
const Key = ({ of }: { readonly of: string }) => {
  const [section, ...rest] = of.split(".")
  return (
    <code className="value">
      {section}
      {rest.length === 0 ? null : "."}
      <wbr />
      {rest.join(".")}
    </code>
  )
}

const Value = ({ setting: { value, isSet, isHidden } }: { readonly setting: Setting }) => {
  if (!isSet) return <span className="soft">not set</span>
  return (
    <>
      {value === null ? null : <code className="value">{JSON.stringify(value)}</code>}{" "}
      {isHidden ? <Badge tone="quiet">hidden</Badge> : null}
    </>
  )
}
