/**
 * Each fault of a running fleet is seen by all views within half a minute, its own condition is on top and nothing else
 * is critical; half a minute after its mend nothing of it is shown.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Home, newHome, type RunningFleet, startFleet, starling } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { childrenOf } from "../support/speech-clients.ts"

let home: Home
let fleet: RunningFleet

beforeAll(async () => {
  home = newHome()
  fleet = await startFleet(home)
})
afterAll(async () => {
  await fleet.stop("SIGTERM")
  home.remove()
})

interface Conditions {
  readonly isWhole: boolean
  readonly items: ReadonlyArray<{
    readonly name: string
    readonly severity: string
    readonly causedBy: string | null
    readonly since: string
  }>
}

const conditions = async () => {
  const { console: url, token } = fleet.ready
  const answer = await fetch(`${url}/conditions`, { headers: { authorization: `Bearer ${token}` } })
  return (await answer.json()) as Conditions
}

/** Those that are to be mended themselves, worst first. */
const causes = async () =>
  (await conditions()).items
    .filter(({ causedBy }) => causedBy === null)
    .map(({ name, severity }) => `${severity} ${name}`)

const seenWithinMs = 30_000

const faultIsSeen = async (condition: string) => {
  await until(async () => (await causes())[0], { is: (first) => first === condition, withinMs: seenWithinMs })
  const [severity = "", name = ""] = condition.split(" ")
  const critical = (await causes()).filter((one) => one.startsWith("critical "))
  assert.deepStrictEqual(critical, severity === "critical" ? [condition] : [])
  const doctor = await starling(home, "doctor")
  assert.include(doctor.out, `docs/runbooks.md#${name.toLowerCase()}`)
  const top = await starling(home, "top", "--once")
  assert.isTrue(
    top.out.split("\n").some((line) => line.startsWith(severity)),
    top.out
  )
}

const nothingIsSeen = () => until(causes, { is: (all) => all.length === 0, withinMs: seenWithinMs })

describe("a fleet that is well", () => {
  it("has no condition, also when its rates are known", async () => {
    const all = await until(conditions, { is: ({ isWhole }) => isWhole, withinMs: 60_000 })
    assert.deepStrictEqual(all.items, [])
  })
})

/** Stops a process as a machine that hangs does, and lets it go on afterwards. */
const whileHung = async (command: string, look: () => Promise<void>) => {
  const [child] = childrenOf(fleet.pid, command)
  assert.isDefined(child, command)
  const pid = child?.pid ?? 0
  process.kill(pid, "SIGSTOP")
  try {
    await look()
  } finally {
    process.kill(pid, "SIGCONT")
  }
}

describe("a fault", () => {
  it.each([
    ["a synthesizer that hangs", "role speech-synthesizer", "critical StarlingPodDown"],
    ["a chain whose only node hangs", "dev-chain-solana", "critical PaymentChainUnreachable"]
  ])("of %s is seen as what it is, and ends with it", async (_, command, condition) => {
    await whileHung(command, () => faultIsSeen(condition))
    await nothingIsSeen()
  })

  it("of an endpoint that somebody paused is said, and alarms nobody", async () => {
    const paused = await starling(home, "endpoints", "pause", "demo", "--reason", "its receiver moves")
    assert.strictEqual(paused.code, 0, paused.error)
    await faultIsSeen("info WebhookEndpointPaused")
    await starling(home, "endpoints", "resume", "demo")
    await nothingIsSeen()
  })
})
