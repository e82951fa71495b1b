import { barsPath, chartText, failedOf, linePath, type Point, type Range } from "./history.ts"

interface ChartProps {
  readonly places: ReadonlyArray<Point | undefined>
  readonly range: Range
}

const height = 40
const latencyHeight = 24
// An idle span is a stroke, one that nobody saw is none.
const idle = 0.03

/** Bars of calls with what failed of them, and below them lines of p50 and p95. */
export const Chart = ({ places, range }: ChartProps) => {
  const most = Math.max(1e-9, ...places.map((point) => point?.perSecond ?? 0))
  const slowest = Math.max(1e-9, ...places.map((point) => point?.p95Ms ?? 0))
  const share = (ms: number | null | undefined) => (ms === null || ms === undefined ? undefined : ms / slowest)
  return (
    <svg
      className="chart"
      viewBox={`0 0 ${Math.max(1, places.length)} ${height + latencyHeight + 2}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={chartText(places, range)}
    >
      <path
        className="calls"
        d={barsPath(
          places.map((point) => (point === undefined ? 0 : Math.max(idle, point.perSecond / most))),
          height
        )}
      />
      <path
        className="failed"
        d={barsPath(
          places.map((point) => (point === undefined ? 0 : failedOf(point) / most)),
          height
        )}
      />
      <g transform={`translate(0 ${height + 2})`}>
        <path
          className="p95"
          d={linePath(
            places.map((point) => share(point?.p95Ms)),
            latencyHeight
          )}
        />
        <path
          className="p50"
          d={linePath(
            places.map((point) => share(point?.p50Ms)),
            latencyHeight
          )}
        />
      </g>
    </svg>
  )
}
