/** What stands, since when, in which order, and what explains it away. */
import { assert, describe, it } from "@effect/vitest"
import { looks } from "../../../../libs/console/conditions/looks.ts"
import { explained, told } from "../../../../libs/console/conditions/standing.ts"
import { conditionsView } from "../../../../libs/console/conditions/view.ts"
import { parseExposition } from "../../../../libs/console/readings/readings.ts"

const url = "http://10.0.0.1:9400"

/** What one process shows at that second; undefined: it does not answer. */
const scan = (second: number, text: string | undefined) => ({
  reading: { atMs: second * 1_000, targets: new Map([[url, text === undefined ? undefined : parseExposition(text)]]) },
  targets: [{ url, roles: ["sweeper"] }],
  readiness: new Map([
    [url, { ok: false, checks: { "bus sweeper": "no answer", "chain eip155:1": "refused", loop: "ok" } }]
  ])
})

const away = 'bus_connected{role="sweeper"} 0\nbus_unusable_streams{role="sweeper",use="write"} 2'
const well = 'bus_connected{role="sweeper"} 1\nbus_unusable_streams{role="sweeper",use="write"} 0'

/** Looks at these texts five seconds apart. */
const standingAfter = (texts: ReadonlyArray<string | undefined>, sinceOf?: (id: string) => number | undefined) => {
  const lookAt = looks(sinceOf)
  return texts.map((text, index) => lookAt(scan(index * 5, text))).at(-1)?.standing ?? []
}
const names = (standing: ReturnType<typeof standingAfter>) => explained(standing).map(({ condition }) => condition.name)

describe("a condition that is seen", () => {
  it("stands when it has been seen for ten seconds, which a restart does not take", () => {
    assert.deepStrictEqual(names(standingAfter([undefined, undefined])), [])
    assert.deepStrictEqual(names(standingAfter([undefined, undefined, well])), [])
    assert.deepStrictEqual(names(standingAfter([undefined, undefined, undefined])), ["StarlingPodDown"])
  })

  it("has ended when it is not seen any more", () => {
    assert.deepStrictEqual(names(standingAfter([away, away, away, well])), [])
  })

  it("stands since it was first seen", () => {
    const [one] = standingAfter([well, away, away, away])
    assert.strictEqual(one?.sinceMs, 5_000)
  })

  it("stands at once, and since then, where it stood before this process began to look", () => {
    const [one] = standingAfter([undefined], () => -3_600_000)
    assert.deepStrictEqual([one?.condition.name, one?.sinceMs], ["StarlingPodDown", -3_600_000])
  })
})

describe("conditions that stand", () => {
  it("follow the one that causes them", () => {
    const all = explained(standingAfter([away, away, away]))
    assert.deepStrictEqual(
      all.map(({ condition, causedBy }) => [condition.name, causedBy]),
      [
        ["StarlingBusDisconnected", null],
        ["StarlingStreamsUnusable", "StarlingBusDisconnected pod=10.0.0.1:9400"]
      ]
    )
  })

  it("are not caused by a fault of another thing", () => {
    const text = [
      'check_failing{check="fees",subject="eip155:1"} 1',
      'check_failing{check="fees",subject="eip155:2"} 1',
      'payment_settler_keys_held{network="eip155:1"} 0'
    ].join("\n")
    const all = explained(standingAfter([text, text, text]))
    assert.isTrue(all.every(({ causedBy }) => causedBy === null))
    assert.deepStrictEqual(
      all.map(({ condition, labels }) => `${condition.severity} ${labels["network"] ?? labels["subject"]}`),
      ["critical eip155:1", "warning eip155:1", "warning eip155:2"]
    )
  })

  it("are as urgent as the worst that they cause", () => {
    const text = [
      'webhook_circuit_state{endpoint="ci"} 2',
      'webhook_abandoned_deliveries{endpoint="ci"} 3',
      'check_failing{check="tokens",subject=""} 1'
    ].join("\n")
    assert.deepStrictEqual(
      explained(standingAfter([text, text, text])).map(({ condition }) => condition.name),
      ["WebhookCircuitOpen", "WebhookDeliveriesAbandoned", "StarlingTokensEnding"]
    )
  })

  it("name a process by what it runs, and say how many others have the same fault", () => {
    const lookAt = looks()
    const last = [0, 5, 10].map((second) => lookAt(scan(second, away))).at(-1)
    const [item] = last === undefined ? [] : conditionsView(last).items
    assert.strictEqual(item?.title, "sweeper (10.0.0.1:9400) has no connection to the broker.")
    assert.deepStrictEqual(item?.reasons, [
      "1 of 1 processes have no connection",
      "bus sweeper: no answer",
      "chain eip155:1: refused"
    ])
  })

  it("say what most of a share was", () => {
    const attempts = (count: number) =>
      [200, 401, 500]
        .map((status, index) => `webhook_attempts_total{endpoint="ci",status_class="${status}"} ${count * index}`)
        .join("\n")
    const lookAt = looks()
    const last = [0, 5, 10, 15].map((second) => lookAt(scan(second, attempts(second)))).at(-1)
    const [item] = last === undefined ? [] : conditionsView(last).items
    assert.deepStrictEqual(item?.reasons, ["mostly status_class 500"])
  })

  it("are shown with their sentences filled in", () => {
    const lookAt = looks()
    const last = [0, 5, 10].map((second) => lookAt(scan(second, 'webhook_circuit_state{endpoint="ci"} 2'))).at(-1)
    const [item] = last === undefined ? [] : conditionsView(last).items
    assert.strictEqual(item?.title, "ci accepts nothing: its circuit is open.")
    assert.include(item?.commands ?? [], "./starling endpoints test ci")
    assert.deepStrictEqual(item?.reasons, [])
  })

  it.each([
    ['process_unready{role="fleet"} 1', ["bus sweeper: no answer", "chain eip155:1: refused"]],
    ['x402_chain_unreachable{network="eip155:1"} 1', ["chain eip155:1: refused"]],
    ['x402_chain_unreachable{network="eip155:2"} 1', []],
    ['check_failing{check="room",subject="eip155:1"} 1', []],
    [undefined, ["it ran sweeper, which no other process runs", "0 of 1 processes answer"]]
  ])("have the reasons of the checks that they are about: %s", (text, reasons) => {
    const lookAt = looks()
    const last = [0, 5, 10].map((second) => lookAt(scan(second, text))).at(-1)
    assert.deepStrictEqual(last === undefined ? undefined : conditionsView(last).items[0]?.reasons, reasons)
  })
})

describe("a figure in a sentence", () => {
  it.each([
    ["{value}", 3, "3"],
    ["{value}", 0.25, "0.3"],
    ["{value:percent}", 0.4, "40 %"],
    ["{value:duration}", 0.04, "40 ms"],
    ["{value:duration}", 90, "90 s"],
    ["{value:duration}", 600, "10 min"],
    ["{value:duration}", 86_400, "24 h"]
  ])("of %s for %d is %s", (text, value, expected) => {
    assert.strictEqual(told(text, { labels: {}, value }), expected)
  })
})
