/** What each thing did over the last hour, day or month: figures, bars and lines. */
import { useState } from "react"
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Chip } from "../../design/Chip.tsx"
import { duration, percent, rate } from "../../design/words.ts"
import { Chart } from "./Chart.tsx"
import { figuresOf, type History, mostText, placesOf, startText, type Range, rangeWords } from "./history.ts"
import "./history.css"

type Kind = History["items"][number]["kind"]

interface Shown {
  readonly title: string
  readonly id: string
  readonly href?: string
}

interface HistoriesProps {
  readonly heading?: string
  readonly kind: Kind
  /** Undefined: the busiest of that kind. */
  readonly things?: ReadonlyArray<Shown>
  /** Once a screen. */
  readonly isExplained?: boolean
}

// A minute is a point, and the newest one grows.
const everyMs = 10_000
const ranges: ReadonlyArray<Range> = ["hour", "day", "month"]

export const Histories = ({ heading = "History", kind, things, isExplained = true }: HistoriesProps) => {
  const [range, setRange] = useState<Range>("hour")
  const [only] = things?.length === 1 ? things : []
  const { value } = useResource(
    `history ${kind} ${only?.id ?? ""} ${range}`,
    (signal) => get("/history", { query: { kind, range, ...(only === undefined ? {} : { id: only.id }) }, signal }),
    { everyMs }
  )
  const shown = things ?? (value?.items ?? []).map(({ id }) => ({ id, title: id }))
  return (
    <section className="histories" aria-label={heading}>
      <div className="row">
        <h2>{heading}</h2>
        <span className="chips" role="group" aria-label="Range">
          {ranges.map((one) => (
            <Chip key={one} label={rangeWords[one]} isOn={one === range} onClick={() => setRange(one)} />
          ))}
        </span>
      </div>
      {isExplained ? (
        <p className="soft">
          Bars are calls, red is what failed; lines are p50 and, dashed, p95. Without a bar nobody looked.
        </p>
      ) : null}
      {value !== undefined && shown.length === 0 ? <p className="soft">Nothing was used yet.</p> : null}
      <div className="histories-of">
        {shown.map((thing) => (
          <Thing key={thing.id} thing={thing} history={value} range={range} />
        ))}
      </div>
    </section>
  )
}

interface ThingProps {
  readonly thing: Shown
  readonly history: History | undefined
  readonly range: Range
}

/** As high before its history was read as after it. */
const Thing = ({ thing: { title, id, href }, history, range }: ThingProps) => {
  const points = history?.items.find((item) => item.id === id)?.points ?? []
  const { perSecond, success, p50Ms, p95Ms } = figuresOf(points)
  return (
    <section className="history" aria-label={title}>
      <h3>{href === undefined ? title : <a href={href}>{title}</a>}</h3>
      <p className="history-figures">
        <strong>{rate(perSecond)}</strong>
        <span>{success === null ? "no calls" : `${percent(success)} succeeded`}</span>
        <span>{p50Ms === null || p95Ms === null ? "" : `p50 ${duration(p50Ms)}, p95 ${duration(p95Ms)}`}</span>
      </p>
      <Chart places={history === undefined ? [] : placesOf(history, points)} range={range} />
      <p className="chart-scale">
        <span>{history === undefined ? "" : startText(history.from, range)}</span>
        <span>{points.length === 0 ? "" : mostText(points)}</span>
        <span>now</span>
      </p>
    </section>
  )
}
