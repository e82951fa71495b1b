/**
 * A board of Grafana from a short list of panels, each with its title, unit and expression. Every series is narrowed by
 * the board's variables, and a panel links the runbooks of the alerts that watch its series.
 */
import { narrowed, selectorsOf } from "./promql.ts"
import type { Alert, Recording } from "./rules.ts"
import { runbookAnchor, runbooksUrl } from "./rules.ts"

/** A table's column: the series of all columns are joined by their labels. */
export interface Column {
  readonly title: string
  readonly expr: string
  readonly unit: string
}

export interface Panel {
  readonly title: string
  readonly expr: string
  readonly legend: string
  /** Grafana's units: s, short, reqps, percentunit, bytes, currencyUSD, none. */
  readonly unit: string
  /** The panel's description: what a reader learns from it. */
  readonly says: string
  /** A `stat` is one number, red from `redFrom` on; a `table` has further columns. Else lines over time. */
  readonly shape?: { readonly stat: true; readonly redFrom?: number } | { readonly columns: ReadonlyArray<Column> }
}

export interface Row {
  readonly title: string
  readonly panels: ReadonlyArray<Panel>
}

/** A variable that a reader chooses from the values of a label. */
export interface Variable {
  readonly label: string
  /** The series whose label is listed. */
  readonly of: string
  /** The board's other series that have the label. */
  readonly narrows: ReadonlyArray<string>
}

export interface Board {
  readonly uid: string
  readonly title: string
  readonly variables: ReadonlyArray<Variable>
  readonly rows: ReadonlyArray<Row>
}

/** What the boards link. */
export interface Watched {
  readonly alerts: ReadonlyArray<Alert>
  readonly recordings: ReadonlyArray<Recording>
}

/** All expressions of a panel. */
export const expressionsOf = ({ expr, shape }: Panel): ReadonlyArray<string> =>
  shape !== undefined && "columns" in shape ? [expr, ...shape.columns.map((column) => column.expr)] : [expr]

// A recording has lost the namespace; on one machine no series has it, and `.*` matches that too.
const isRecording = (metric: string) => metric.includes(":")
const matcher = (label: string) => `${label}=~"$${label}"`

/** The expression as the board asks it. */
export const asked = ({ variables }: Board, expr: string): string =>
  narrowed(expr, (metric) => [
    ...(isRecording(metric) ? [] : [matcher("namespace")]),
    ...variables
      .filter(({ of, narrows }) => of === metric || narrows.includes(metric))
      .map(({ label }) => matcher(label))
  ])

/** The alerts that watch a series of the panel, as it is or as it is recorded. */
export const alertsOn = (panel: Panel, { alerts, recordings }: Watched): ReadonlyArray<Alert> => {
  const recorded = new Map(recordings.map(({ record, expr }) => [record, expr]))
  const seriesOf = (expr: string) =>
    selectorsOf(expr).flatMap(({ metric }) => [
      metric,
      ...selectorsOf(recorded.get(metric) ?? "").map((one) => one.metric)
    ])
  const base = (metric: string) => metric.replace(/_(?:bucket|sum|count)$/u, "")
  const shown = new Set(expressionsOf(panel).flatMap(seriesOf).map(base))
  return alerts.filter(({ expr }) => seriesOf(expr).some((metric) => shown.has(base(metric))))
}

const source = { type: "prometheus", uid: "${datasource}" }
const boardColumns = 24

const isStat = ({ shape }: Panel) => shape !== undefined && "stat" in shape
const isTable = ({ shape }: Panel) => shape !== undefined && "columns" in shape
const sizeOf = (panel: Panel) =>
  isStat(panel) ? { w: 4, h: 4 } : isTable(panel) ? { w: boardColumns, h: 9 } : { w: boardColumns / 3, h: 8 }

/** From left to right, and below when the line is full. */
const placed = (panels: ReadonlyArray<Panel>, top: number) => {
  let [x, y, lineHeight] = [0, top, 0]
  const places = panels.map((panel) => {
    const { w, h } = sizeOf(panel)
    if (x + w > boardColumns) [x, y, lineHeight] = [0, y + lineHeight, 0]
    const gridPos = { x, y, w, h }
    x += w
    lineHeight = Math.max(lineHeight, h)
    return { panel, gridPos }
  })
  return { places, bottom: y + lineHeight }
}

const thresholds = (redFrom: number | undefined) => ({
  mode: "absolute",
  steps: [{ color: "green", value: null }, ...(redFrom === undefined ? [] : [{ color: "red", value: redFrom }])]
})

const refId = (index: number) => String.fromCodePoint("A".codePointAt(0)! + index)

const lines = (board: Board, { unit, expr, legend }: Panel) => ({
  type: "timeseries",
  fieldConfig: { defaults: { unit, min: 0, custom: { lineWidth: 1, fillOpacity: 8 } }, overrides: [] },
  options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  targets: [{ refId: "A", datasource: source, expr: asked(board, expr), legendFormat: legend, range: true }]
})

const stat = (board: Board, { unit, expr, legend }: Panel, redFrom: number | undefined) => ({
  type: "stat",
  fieldConfig: { defaults: { unit, thresholds: thresholds(redFrom) }, overrides: [] },
  options: { colorMode: "value", graphMode: "area", reduceOptions: { calcs: ["lastNotNull"], values: false } },
  targets: [{ refId: "A", datasource: source, expr: asked(board, expr), legendFormat: legend, range: true }]
})

/** The panel's own expression is the first column; a row is what has the same labels in all of them. */
const table = (board: Board, { unit, expr, legend }: Panel, further: ReadonlyArray<Column>) => {
  const columns = [{ title: legend, expr, unit }, ...further]
  return {
    type: "table",
    fieldConfig: {
      defaults: {},
      overrides: columns.map((column) => ({
        matcher: { id: "byName", options: column.title },
        properties: [{ id: "unit", value: column.unit }]
      }))
    },
    options: { showHeader: true, cellHeight: "sm" },
    targets: columns.map((column, index) => ({
      refId: refId(index),
      datasource: source,
      expr: asked(board, column.expr),
      format: "table",
      instant: true
    })),
    transformations: [
      { id: "merge", options: {} },
      {
        id: "organize",
        options: {
          excludeByName: { Time: true },
          renameByName: Object.fromEntries(columns.map(({ title }, index) => [`Value #${refId(index)}`, title]))
        }
      }
    ]
  }
}

const drawn = (board: Board, panel: Panel) => {
  const { shape } = panel
  if (shape === undefined) return lines(board, panel)
  return "stat" in shape ? stat(board, panel, shape.redFrom) : table(board, panel, shape.columns)
}

const variable = ({ label, of }: Pick<Variable, "label" | "of">) => ({
  name: label,
  label,
  type: "query",
  datasource: source,
  query: { query: `label_values(${of}, ${label})`, refId: label },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: ".*",
  current: { text: ["All"], value: ["$__all"] },
  hide: 0
})

const templating = ({ variables }: Board) => ({
  list: [
    { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus", hide: 0 },
    variable({ label: "namespace", of: "starling_build_info" }),
    ...variables.map(({ label, of }) => variable({ label, of: narrowed(of, () => [matcher("namespace")]) })),
    // Your own address of docs/operations.md can be given in the link: ?var-runbooks=...
    { name: "runbooks", label: "Runbooks at", type: "textbox", query: runbooksUrl, hide: 0 }
  ]
})

export const grafana = (board: Board, watched: Watched) => {
  const { uid, title, rows } = board
  let id = 0
  let y = 0
  const panels = rows.flatMap((row) => {
    const gridPos = { x: 0, y: y++, w: boardColumns, h: 1 }
    const header = { id: ++id, type: "row", title: row.title, collapsed: false, gridPos, panels: [] }
    const { places, bottom } = placed(row.panels, y)
    y = bottom
    const shown = places.map(({ panel, gridPos }) => ({
      id: ++id,
      title: panel.title,
      description: panel.says,
      datasource: source,
      gridPos,
      links: alertsOn(panel, watched).map(({ name }) => ({
        title: `Runbook: ${name}`,
        url: `\${runbooks}#${runbookAnchor(name)}`,
        targetBlank: true
      })),
      ...drawn(board, panel)
    }))
    return [header, ...shown]
  })
  return {
    uid: `starling-${uid}`,
    title: `Starling: ${title}`,
    tags: ["starling"],
    schemaVersion: 41,
    version: 1,
    editable: false,
    refresh: "15s",
    time: { from: "now-3h", to: "now" },
    timezone: "utc",
    templating: templating(board),
    panels
  }
}
