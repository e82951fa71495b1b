/** The fleet as a real Prometheus sees it, by the relabeling of the deployment and with its rules. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ruleGroups } from "../../deploy/generate/files.ts"
import { ruleGroup } from "../../deploy/generate/rules.ts"
import { alerts, expressions, familyOf, fromBroker, labelsOf, recordings } from "../deploy/declared-metrics.ts"
import { type Pod, scrapeConfigs } from "../deploy/pod-monitor.ts"
import { groupLabelsOf, selectorsOf } from "../../deploy/generate/promql.ts"
import { prometheus as program } from "../deploy/tools.ts"
import { type Collector, startCollector } from "../support/collector.ts"
import { type RunningPrometheus, startPrometheus } from "../../dev/fixtures/prometheus.ts"
import { endRoles, startRole } from "../support/role.ts"
import { type Home, modelVoice, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

interface Targets {
  readonly activeTargets: ReadonlyArray<{ readonly health: string; readonly labels: Readonly<Record<string, string>> }>
  readonly droppedTargets: ReadonlyArray<{ readonly discoveredLabels: Readonly<Record<string, string>> }>
}
interface Rules {
  readonly groups: ReadonlyArray<{
    readonly rules: ReadonlyArray<{ readonly name: string; readonly health: string; readonly lastError?: string }>
  }>
}
type Series = ReadonlyArray<Readonly<Record<string, string>>>

const recorded: ReadonlySet<string> = new Set(recordings.map(({ record }) => record))
const ofPrometheus = ["up", "ALERTS"]
const isOurs = (metric: string) =>
  !recorded.has(metric) && !Object.hasOwn(fromBroker, metric) && !ofPrometheus.includes(metric)

/**
 * In the catalogue, and present from their first sample on: of a remote facilitator, a cloned voice, a sweep's finds,
 * and of payment channels, of which nobody has opened one.
 */
const toldLater = [
  "x402_facilitator_calls_total",
  "x402_facilitator_unconfirmed_total",
  "x402_facilitator_unreachable",
  "speech_voice_creates_total",
  "sweeper_findings_total",
  "payment_channel_orders_total",
  "payment_channel_transactions_total",
  "payment_channel_units",
  "payment_channel_differences",
  "payment_channels_watched_timestamp_seconds"
]

let collector: Collector
let home: Home
let fleet: RunningFleet
let prometheus: RunningPrometheus

const hostOf = (url: string) => new URL(url).host

/** Something of each job, so that there is a sample of more than a start leaves. */
const work = async () => {
  const { gateway, speech, token } = fleet.ready
  await starling(home, "publish", "work_item.merged", "--example")
  await until(() => fleet.log().includes("received work_item.merged"))
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
  const messages = [{ role: "user", content: "one two" }]
  const asked = { method: "POST", headers, body: JSON.stringify({ model: "demo/free", messages, stream: true }) }
  const told = await fetch(`${gateway}/v1/chat/completions`, asked)
  assert.include(await told.text(), "[DONE]")
  const said = { method: "POST", headers, body: JSON.stringify({ input: "Hello.", voice_id: "henry" }) }
  const audio = await fetch(`${speech}/v1/audio/stream`, said)
  await audio.arrayBuffer()
  assert.strictEqual(audio.status, 200)
}

const begin = async () => {
  collector = await startCollector()
  home = newHome({ ...modelVoice, TELEMETRY_OTLP_URL: collector.url })
  fleet = await startFleet(home)
  const synthesizer = await startRole("speech-synthesizer", {
    configuration: { Bus: fleet.roleBus }
  })
  await until(() => synthesizer.status("/readyz"), { is: 200, withinMs: startWithinMs })
  await work()
  const { gateway } = fleet.ready
  const pods: ReadonlyArray<Pod> = [
    { address: hostOf(fleet.ready.metrics), name: "fleet-1", role: "fleet", port: "metrics" },
    { address: hostOf(synthesizer.url), name: "speech-synthesizer-1", role: "speech-synthesizer", port: "metrics" },
    { address: hostOf(gateway), name: "model-gateway-1", role: "model-gateway", port: "http" }
  ]
  prometheus = await startPrometheus(program ?? "", scrapeConfigs(pods, "1s"), { groups: ruleGroups.map(ruleGroup) })
  // A target is up a moment before its first samples are stored.
  await until(() => podsWith("process_resident_memory_bytes"), { is: ({ size }) => size === 2 })
}

const targets = () => prometheus.ask<Targets>("targets")
const seriesOf = (metric: string) => prometheus.ask<Series>("series", { "match[]": metric })
const podsWith = async (metric: string) => new Set((await seriesOf(metric)).map(({ pod }) => pod))

/** As Prometheus itself writes it: one way for names, labels and groups. */
const read = async (expr: string) =>
  (await prometheus.ask<string>("format_query", { query: expr })).replaceAll(/\s+/gu, " ")

describe.skipIf(program === undefined)("a Prometheus that scrapes the running fleet", () => {
  beforeAll(begin)
  afterAll(async () => {
    // None of it exists when the fleet did not start.
    if (prometheus !== undefined) await prometheus.stop()
    await endRoles()
    await fleet.stop("SIGTERM")
    await collector.close()
    home.remove()
  })

  it("finds the metrics' ports and no other, and gives them the labels of the rules", async () => {
    const { activeTargets, droppedTargets } = await targets()

    assert.deepStrictEqual(
      activeTargets.map(({ labels }) => `${labels["job"]} ${labels["pod"]} ${labels["endpoint"]}`).toSorted(),
      ["starling fleet-1 undefined", "starling speech-synthesizer-1 undefined"]
    )
    assert.strictEqual(droppedTargets.length, 1)
  })

  it("sees receivers by their own names", async () => {
    const names = new Set((await seriesOf("webhook_attempts_total")).map(({ endpoint }) => endpoint))

    assert.deepStrictEqual([...names], ["demo"])
  })

  it("attributes processor and memory to the process", async () => {
    const roles = new Set((await seriesOf("process_resident_memory_bytes")).map(({ role }) => role))

    assert.deepStrictEqual([...roles].toSorted(), ["fleet", "speech-synthesizer"])
  })

  it("sees the broker, and the fleet's other process, at the fleet's one address", async () => {
    for (const metric of Object.keys(fromBroker)) {
      const pods = (await seriesOf(metric)).map(({ pod }) => pod)
      assert.deepStrictEqual([...new Set(pods)], ["fleet-1"], metric)
    }
    const releases = (await seriesOf("starling_build_info")).filter(({ pod }) => pod === "fleet-1")
    assert.includeMembers(
      releases.map(({ role = "" }) => role),
      ["pipeline-api", "webhook-dispatcher", "speech-synthesizer"]
    )
    for (const { version, commit } of releases) assert.isTrue(version !== "" && commit !== "")
  })

  it("sees the counters of faults at 0 before there is one", async () => {
    const zero = async (selector: string) =>
      (await prometheus.ask<{ readonly result: ReadonlyArray<unknown> }>("query", { query: `${selector} == 0` })).result
    for (const selector of [
      'webhook_deliveries_total{endpoint="demo",outcome="abandoned"}',
      "webhook_attempt_records_dropped_total",
      'payment_settlement_tries_total{outcome="uncollected"}',
      "payment_book_findings_total",
      'bus_published_total{outcome="failed"}',
      'http_requests_total{status="5xx"}',
      "sweeper_failures_total"
    ]) {
      assert.isNotEmpty(await zero(selector), selector)
    }
  })

  it("evaluates every rule, and no critical alert fires on a healthy fleet", async () => {
    const rules = async () => (await prometheus.ask<Rules>("rules")).groups.flatMap((group) => group.rules)
    await until(async () => (await rules()).every(({ health }) => health !== "unknown"))

    const evaluated = await rules()
    assert.strictEqual(evaluated.length, recordings.length + alerts.length)
    assert.deepStrictEqual(
      evaluated.filter(({ health }) => health !== "ok").map(({ name, lastError }) => `${name}: ${lastError}`),
      []
    )
    const firing = await prometheus.ask<{ readonly result: ReadonlyArray<unknown> }>("query", {
      query: 'ALERTS{alertstate="firing",severity="critical"}'
    })
    assert.deepStrictEqual(firing.result, [])
  })

  it("knows every metric that a rule, a board or an autoscaler names", async () => {
    const known = new Set(Object.keys(await prometheus.ask<Record<string, unknown>>("metadata")))
    const missing = new Set<string>()
    for (const [name, expr] of expressions) {
      const metrics = selectorsOf(await read(expr)).map(({ metric }) => metric)
      assert.isNotEmpty(metrics, name)
      for (const metric of metrics) if (isOurs(metric) && !known.has(familyOf(metric))) missing.add(metric)
    }

    assert.deepStrictEqual(
      [...missing].filter((metric) => !toldLater.includes(metric)),
      []
    )
    for (const metric of missing) assert.isDefined(labelsOf(metric), metric)
  })

  it("has the labels that they use on its series, or in the catalogue", async () => {
    let onSeries = 0
    for (const [name, expr] of expressions) {
      const text = await read(expr)
      const selectors = selectorsOf(text)
      const all: Array<string> = []
      for (const { metric, labels } of selectors) {
        const series = Object.hasOwn(fromBroker, metric) ? [] : await seriesOf(metric)
        const found = series.length > 0 ? series.flatMap((one) => Object.keys(one)) : (labelsOf(metric) ?? [])
        if (series.length > 0) onSeries++
        assert.includeMembers([...new Set(found)], [...labels], `${name}: ${metric}`)
        all.push(...found)
      }
      assert.includeMembers([...new Set(all)], [...groupLabelsOf(text)], name)
    }
    assert.isAbove(onSeries, 60)
  })
})
