/** The broker's streams with their consumers' lag, and who holds which lease. */
import { type Answer, get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Badge } from "../../design/Badge.tsx"
import { clipped } from "../../design/Clip.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { bytes, count, countOf } from "../../design/words.ts"

type Stream = Answer<"GET", "/streams">["items"][number]

const everyMs = 3_000

export const Streams = () => {
  const { value, refused, reload } = useResource("streams", (signal) => get("/streams", { signal }), { everyMs })
  if (value === undefined) {
    return refused === undefined ? <Loading what="streams" /> : <Fault refused={refused} onAgain={reload} />
  }
  return (
    <>
      {refused === undefined ? null : <Fault refused={refused} />}
      <Table
        label="Streams, buckets and stores"
        rows={value.items}
        columns={streamColumns}
        keyOf={({ name }) => name}
      />
    </>
  )
}

const fullOf = ({ state }: Stream) => {
  if (state === null || state.bytesMax === null) return ""
  return ` of ${bytes(state.bytesMax)}`
}

const streamColumns: ReadonlyArray<Column<Stream>> = [
  {
    title: "Name",
    cell: ({ name, purpose }) => (
      <>
        <code>{name}</code>
        <div className="soft">{purpose}</div>
      </>
    )
  },
  { title: "Messages", cell: ({ state }) => (state === null ? "–" : count(state.messages)), isNumber: true },
  {
    title: "Size",
    cell: (stream) =>
      stream.state === null ? (stream.trouble ?? "–") : `${bytes(stream.state.bytes)}${fullOf(stream)}`,
    isNumber: true,
    isMinor: true
  },
  { title: "Newest", cell: ({ state }) => (state?.lastAt == null ? "–" : <Time at={state.lastAt} />), isMinor: true },
  { title: "Consumers, busiest first", cell: (stream) => <Lags stream={stream} />, isMinor: true }
]

/** How many lags a row shows. */
const lagsMax = 3

const Lags = ({ stream: { state, consumers } }: { readonly stream: Stream }) => {
  const all = state?.consumerCount ?? 0
  if (all === 0) return "–"
  return (
    <ul className="lags">
      {consumers.slice(0, lagsMax).map(({ name, pending, unacked, waiting, isPaused }) => (
        <li key={name}>
          {clipped(<code>{name}</code>)} {count(pending)} pending, {count(unacked)} unacknowledged{" "}
          {isPaused ? <Badge tone="wait">paused</Badge> : null}
          {pending > 0 && waiting === 0 && unacked === 0 ? <Badge tone="bad">no reader</Badge> : null}
        </li>
      ))}
      {all > lagsMax ? <li className="soft">and {countOf(all - lagsMax, "other")}</li> : null}
    </ul>
  )
}

type Lease = Answer<"GET", "/leases">["items"][number]

const leaseColumns: ReadonlyArray<Column<Lease>> = [
  { title: "Lease", cell: ({ key }) => <code>{key}</code> },
  { title: "Holder", cell: ({ holder }) => <code>{holder}</code> },
  { title: "Expires", cell: ({ until }) => <Time at={until} /> }
]

export const Leases = () => {
  const { value, refused, reload } = useResource("leases", (signal) => get("/leases", { signal }), { everyMs })
  if (value === undefined) {
    return refused === undefined ? <Loading what="leases" /> : <Fault refused={refused} onAgain={reload} />
  }
  return value.items.length === 0 ? (
    <Empty title="No leases are held">
      <p>Relays, sweeps and settler keys hold one while they run.</p>
    </Empty>
  ) : (
    <Table label="Leases" rows={value.items} columns={leaseColumns} keyOf={({ key }) => key} />
  )
}
