/** Boards, alerts and runbooks, whole: each names only what roles declare and what the others hold. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { boards } from "../../deploy/generate/boards.ts"
import { alertsOn, asked, expressionsOf, grafana } from "../../deploy/generate/dashboards.ts"
import { ruleGroups } from "../../deploy/generate/files.ts"
import { ruleGroup, runbooksUrl } from "../../deploy/generate/rules.ts"
import { alerts, expressions, labelsOf, panels, recordings } from "./declared-metrics.ts"
import { groupLabelsOf, selectorsOf } from "../../deploy/generate/promql.ts"
import { repository } from "./tools.ts"

const read = (path: string) => readFileSync(join(repository, path), "utf8")

/** Of the broker, or of Prometheus itself. */
const isOfNoRole = (metric: string) => metric.startsWith("nats_") || metric === "ALERTS" || metric === "up"

describe("the monitored metrics", () => {
  it.each(expressions)("exist, with their labels: %s", (_, expr) => {
    const selectors = selectorsOf(expr)
    assert.isNotEmpty(selectors)
    for (const { metric, labels } of selectors) {
      const known = labelsOf(metric)
      assert.isDefined(known, `nothing tells ${metric}`)
      assert.includeMembers([...(known ?? [])], [...labels], metric)
    }
    const all = selectors.flatMap(({ metric }) => labelsOf(metric) ?? [])
    assert.includeMembers(all, [...groupLabelsOf(expr)])
  })

  it("name in summaries and legends only labels that remain", () => {
    for (const { name, expr, summary } of alerts) {
      const used = [...summary.matchAll(/\$labels\.(\w+)/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, name)
    }
    for (const { title, expr, legend, shape } of panels) {
      if (shape !== undefined) continue
      const used = [...legend.matchAll(/\{\{(\w+)\}\}/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, title)
    }
  })

  it("are narrowed on a board by the namespace, and by each variable whose label they have", () => {
    for (const board of boards) {
      for (const panel of board.rows.flatMap((row) => row.panels)) {
        for (const { metric, labels } of expressionsOf(panel).flatMap((expr) => selectorsOf(asked(board, expr)))) {
          if (!metric.includes(":")) assert.include(labels, "namespace", `${panel.title}: ${metric}`)
          for (const { label } of board.variables) {
            // A recording names the labels that it keeps before its first colon.
            const known = metric.includes(":") ? (metric.split(":")[0] ?? "").split("_") : (labelsOf(metric) ?? [])
            const has = known.includes(label) && (label !== "role" || !isOfNoRole(metric))
            assert.strictEqual(labels.includes(label), has, `${board.uid}, ${panel.title}: ${metric} by ${label}`)
          }
        }
      }
    }
  })

  it("are narrowed by no variable that lists what the board does not show", () => {
    for (const { uid, variables, rows } of boards) {
      const all = rows.flatMap((row) => row.panels).flatMap(expressionsOf)
      const shown = new Set(all.flatMap((expr) => selectorsOf(expr).map(({ metric }) => metric)))
      for (const { label, of, narrows } of variables) {
        assert.isTrue(labelsOf(of)?.includes(label), `${uid}: ${of} has no ${label}`)
        for (const metric of narrows) assert.isTrue(shown.has(metric), `${uid}: ${metric} is on no panel`)
      }
    }
  })

  it("lead from a board's panels to the runbook of every alert", () => {
    const watched = { alerts, recordings }
    const linked = new Set(panels.flatMap((panel) => alertsOn(panel, watched).map(({ name }) => name)))
    assert.deepStrictEqual([...linked].toSorted(), alerts.map(({ name }) => name).toSorted())
    for (const board of boards) {
      const links = grafana(board, watched).panels.flatMap((panel) => ("links" in panel ? panel.links : []))
      for (const { url } of links) assert.match(url, /^\$\{runbooks\}#[a-z]+$/u)
    }
  })

  it("stand on a board one beside the other, within its width and without overlap", () => {
    for (const board of boards) {
      const places = grafana(board, { alerts: [], recordings: [] }).panels.map(({ gridPos }) => gridPos)
      for (const [index, one] of places.entries()) {
        assert.isAtMost(one.x + one.w, 24, board.uid)
        for (const other of places.slice(index + 1)) {
          const isApart =
            one.x + one.w <= other.x ||
            other.x + other.w <= one.x ||
            one.y + one.h <= other.y ||
            other.y + other.h <= one.y
          assert.isTrue(isApart, `${board.uid}: ${JSON.stringify([one, other])}`)
        }
      }
    }
  })

  it("have alerts that each lead to an existing heading", () => {
    for (const { rules } of ruleGroups.map(ruleGroup)) {
      for (const { alert, annotations } of rules.filter((rule) => "alert" in rule)) {
        const [page, anchor] = annotations.runbook_url.split("#")
        assert.strictEqual(page, runbooksUrl)
        const headings = [...read("docs/runbooks.md").matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) => heading)
        assert.include(
          headings.map((heading) => heading.toLowerCase().replaceAll(" ", "-")),
          anchor,
          alert
        )
      }
    }
  })

  it("have a runbook for every alert, with its meaning, what to look at and what to do", () => {
    const page = read("docs/runbooks.md")
    for (const { name } of alerts) {
      const section = page.split(`\n### ${name}\n`)[1]?.split(/\n#{2,4} /u)[0]
      assert.isDefined(section, `docs/runbooks.md has no runbook for ${name}`)
      for (const part of ["Means:", "Look at:", "Do:"]) assert.include(section ?? "", part, name)
    }
  })

  it("have no runbook for a removed alert", () => {
    const written = [...read("docs/runbooks.md").matchAll(/^### (\w+)$/gmu)].map(([, name]) => name)
    assert.deepStrictEqual(written.toSorted(), alerts.map(({ name }) => name).toSorted())
  })
})
