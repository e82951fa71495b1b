/** How often a model answered: a number, bars, and what is behind them. */
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Table } from "../../design/Table.tsx"
import { count, countOf, percent } from "../../design/words.ts"
import { Histories } from "../history/Histories.tsx"
import {
  barsOf,
  barText,
  type CallHistory,
  type CallTotals,
  type ModelSeen,
  ofDay,
  ofMonth,
  type Strip,
  stripText
} from "./uptime.ts"

// The gateway writes once a minute.
const everyMs = 15_000
const pageSize = "200"

/** Every model's uptime by its name, while the caller may look. */
export const useUptimes = (mayLook: boolean) =>
  useResource(
    `uptime of models ${mayLook}`,
    async (signal) => {
      const seen = new Map<string, ModelSeen>()
      let cursor: string | null | undefined = mayLook ? undefined : null
      while (cursor !== null) {
        const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }
        const page: { readonly items: ReadonlyArray<ModelSeen>; readonly nextCursor: string | null } = await get(
          "/models",
          { query, signal }
        )
        for (const item of page.items) seen.set(item.model, item)
        cursor = page.nextCursor
      }
      return seen
    },
    { everyMs }
  )

/** In a row: the last day as a number and a strip, which opens the rest. */
export const UptimeCell = ({ seen, onOpen }: { readonly seen: ModelSeen | undefined; readonly onOpen: () => void }) => {
  if (seen === undefined) return "–"
  const { uptime, calls } = seen.lastDay
  return (
    <Button kind="bare" className="uptime" aria-label={`Uptime of ${seen.model}: ${saidOf(seen)}`} onClick={onOpen}>
      <span className={uptime === null ? "soft" : "uptime-share"}>
        {uptime === null ? "no calls" : percent(uptime)}
      </span>{" "}
      <Bars history={seen.lastDay} strip={ofDay} isDecoration />
      <span className="soft beneath">{uptime === null ? "in 24 h" : `of ${countOf(calls, "call")} in 24 h`}</span>
    </Button>
  )
}

const saidOf = ({ lastDay: { uptime, calls } }: ModelSeen) =>
  uptime === null ? "no calls in 24 h" : `${percent(uptime)} of ${countOf(calls, "call")} in 24 h`

/** Nobody called any model: what makes an uptime. */
export const NoUptimeYet = () => (
  <p className="soft above">
    No model was called in the last thirty days, so none has an uptime yet. Try one below: each call counts, paid or
    free, and shows here within a minute.
  </p>
)

interface DrawerProps {
  readonly seen: ModelSeen
  readonly onClose: () => void
}

export const UptimeDrawer = ({ seen: { model, lastDay, lastMonth, providers }, onClose }: DrawerProps) => (
  <Drawer title={`Uptime of ${model}`} onClose={onClose}>
    <p className="soft">
      The share of calls that were answered, of those that a provider could have answered. What a caller got wrong, a
      caller that left, and a limit of ours at the provider are no part of it.
    </p>
    <Window title="Last 24 hours, by the hour" history={lastDay} strip={ofDay} />
    <Window title="Last 30 days" history={lastMonth} strip={ofMonth} />
    <section className="form">
      <h3>By provider</h3>
      {providers.length === 0 ? (
        <p className="soft">No calls in thirty days.</p>
      ) : (
        <>
          <p className="soft">
            Every attempt counts: a call that the second provider answered counts as failed for the first.
          </p>
          <Table
            label="Uptime by provider"
            rows={providers}
            keyOf={({ provider }) => provider}
            columns={[
              { title: "Provider", cell: ({ provider }) => <code>{provider}</code> },
              { title: "24 hours", cell: (row) => <Share of={row.lastDay} />, isNumber: true },
              { title: "30 days", cell: (row) => <Share of={row.lastMonth} />, isNumber: true },
              { title: "Failed", cell: (row) => count(row.lastMonth.failed), isNumber: true },
              { title: "Circuit open", cell: (row) => count(row.lastMonth.leftAlone), isNumber: true, isMinor: true }
            ]}
          />
        </>
      )}
    </section>
    {providers.length === 0 ? null : (
      <Histories
        heading="Providers, whatever the model"
        kind="provider"
        things={providers.map(({ provider }) => ({ id: provider, title: provider }))}
      />
    )}
  </Drawer>
)

const Share = ({ of: { uptime, calls } }: { readonly of: CallTotals }) =>
  uptime === null ? "no calls" : `${percent(uptime)} of ${count(calls)}`

interface WindowProps {
  readonly title: string
  readonly history: CallHistory
  readonly strip: Strip
}

const Window = ({ title, history, strip }: WindowProps) => {
  const { uptime, answered, failed, leftAlone, limited } = history
  return (
    <section className="form">
      <h3>{title}</h3>
      {uptime === null ? (
        <p className="soft">No calls yet: the uptime appears with the first one.</p>
      ) : (
        <>
          <p className="uptime-large">{percent(uptime)}</p>
          <Bars history={history} strip={strip} />
          <Facts
            facts={[
              ["Answered", count(answered)],
              ["Failed", count(failed)],
              ["Provider's circuit open", count(leftAlone)],
              ["At our limit", count(limited)]
            ]}
          />
        </>
      )}
    </section>
  )
}

interface BarsProps {
  readonly history: CallHistory
  readonly strip: Strip
  /** What it shows is said beside it. */
  readonly isDecoration?: boolean
}

const height = 20
const width = 3
const step = 4
/** Of a bar in which there was no call. */
const idleHeight = 2

/** Filled as high as calls were answered; what is missing is an outline, so that no colour is needed to see it. */
const Bars = ({ history, strip, isDecoration = false }: BarsProps) => {
  const bars = barsOf(history, strip)
  return (
    <svg
      className={`bars ${isDecoration ? "" : "large"}`}
      viewBox={`0 0 ${strip.bars * step - 1} ${height}`}
      preserveAspectRatio="none"
      {...(isDecoration ? { "aria-hidden": true } : { role: "img", "aria-label": stripText(bars, strip.unit) })}
    >
      {bars.map((bar, index) => {
        const filled = bar.state === "none" ? idleHeight : (height * bar.answered) / bar.calls
        return (
          <g key={bar.at} className={bar.state}>
            {isDecoration ? null : <title>{barText(bar, strip.unit)}</title>}
            {bar.state === "some" ? (
              <rect className="missing" x={index * step + 0.5} y={0.5} width={width - 1} height={height - 1} />
            ) : null}
            <rect x={index * step} y={height - filled} width={width} height={filled} />
          </g>
        )
      })}
    </svg>
  )
}
