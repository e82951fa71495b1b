/** A board of Grafana from a short list of panels, each with its title, unit and expression. */

export interface Panel {
  readonly title: string
  readonly expr: string
  readonly legend: string
  /** Grafana's units: s, short, reqps, percentunit, bytes, none. */
  readonly unit: string
  /** The panel's description: what a reader learns from it. */
  readonly says: string
}

export interface Row {
  readonly title: string
  readonly panels: ReadonlyArray<Panel>
}

export interface Board {
  readonly uid: string
  readonly title: string
  readonly rows: ReadonlyArray<Row>
}

const source = { type: "prometheus", uid: "${datasource}" }
const columns = 3
const width = 24 / columns
const height = 8

export const grafana = ({ uid, title, rows }: Board) => {
  let id = 0
  let y = 0
  const panels = rows.flatMap((row) => {
    const header = {
      id: ++id,
      type: "row",
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: 24, h: 1 },
      panels: []
    }
    const shown = row.panels.map((panel, index) => ({
      id: ++id,
      type: "timeseries",
      title: panel.title,
      description: panel.says,
      datasource: source,
      gridPos: { x: (index % columns) * width, y: y + Math.floor(index / columns) * height, w: width, h: height },
      fieldConfig: { defaults: { unit: panel.unit, min: 0, custom: { lineWidth: 1, fillOpacity: 8 } }, overrides: [] },
      options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
      targets: [{ refId: "A", datasource: source, expr: panel.expr, legendFormat: panel.legend, range: true }]
    }))
    y += Math.ceil(row.panels.length / columns) * height
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
    templating: {
      list: [{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus", hide: 0 }]
    },
    panels
  }
}
