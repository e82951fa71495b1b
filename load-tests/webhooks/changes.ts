/**
 * Endpoints made, changed, rotated and removed through the console while events come at 1,000/s: how long each act takes
 * until its answer, and what it costs a dispatcher, among ten endpoints and among ten thousand.
 */
import { execFileSync } from "node:child_process"
import { program } from "#dev/fixtures/starling"
import { startRoles } from "../children.ts"
import { exactly, type Findings, figuresOf, joined, percentile } from "../figures.ts"
import { closedLoop, now, until } from "../loops.ts"
import { useOf } from "../process-use.ts"
import { publishAtRate } from "./publisher.ts"
import { type Rig, withRig } from "./rig.ts"

const eventsPerSecond = 1_000
const secondsOfEvents = 30
// The rest is for the last one's first event.
const secondsOfRounds = 20
// Fewer than the room that is left beside ten thousand: a removed one counts until it is put away.
const roundsMax = 80
const fewEndpoints = 10
const manyEndpoints = 9_900
const quietChanges = 200
// The ten thousand are made by a few callers in turn, as a script would: a token that is known has no rate limit.
const madeAtOnce = 8
const arrivesWithinMs = 60_000

const secrets = ["the-old-secret-of-a-load-test", "the-new-secret-of-a-load-test"] as const

interface Console {
  readonly ask: (verb: string, body: object) => Promise<{ readonly startsAfter: number; readonly revision: number }>
  readonly dispatcherCpuSeconds: () => number
  readonly end: () => Promise<unknown>
}

const startConsole = async (natsUrl: string): Promise<Console> => {
  const configuration = {
    Bus: { Url: natsUrl },
    Console: { Port: 0 },
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] }
  }
  const dispatcher = await startRoles(["webhook-dispatcher"], configuration)
  const shown = await startRoles(["console"], configuration)
  const make = [program, "token", "make", "--role", "owner", "--nats", natsUrl]
  const token = execFileSync(process.execPath, make, { encoding: "utf8" }).trim()
  const url = shown.urls["console"] ?? ""
  return {
    ask: async (verb, body) => {
      const [method = "", path = ""] = verb.split(" ")
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        body: JSON.stringify({ reason: "a load test", ...body })
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${verb} was answered ${response.status}: ${text}`)
      return (text === "" ? {} : JSON.parse(text)) as Awaited<ReturnType<Console["ask"]>>
    },
    dispatcherCpuSeconds: () => useOf(dispatcher.pid).cpuSeconds,
    end: async () => [await shown.end(), await dispatcher.end()]
  }
}

/** The first takes every event; the others wait for one that does not come. */
const standing = async ({ receiver }: Rig, { ask }: Console, count: number) => {
  await ask("POST /endpoints", { settings: { Name: "standing 0", Url: receiver.url("ok", 0) } })
  await closedLoop(count - 1, madeAtOnce, (index) => {
    const settings = { Name: `standing ${index + 1}`, Url: receiver.url("ok", 0), EventFilter: ["agent.smoke_failed"] }
    return ask("POST /endpoints", { settings })
  })
}

interface Round {
  readonly tookMs: Readonly<Record<"create" | "change" | "rotate" | "remove", number>>
  readonly startsAfter: number
  readonly endpoint: string
  readonly removedAtMs: number
}

const timed = async <A>(work: Promise<A>) => {
  const began = performance.now()
  return { answer: await work, tookMs: performance.now() - began }
}

const liveOfOne = async ({ receiver }: Rig, { ask }: Console, number: number): Promise<Round> => {
  const name = `made ${number}`
  const path = `/endpoints/${encodeURIComponent(name)}`
  // One at a time, so that the first to arrive is the first sent.
  const settings = { Name: name, Url: receiver.url("ok", number), Concurrency: 1 }
  const created = await timed(ask("POST /endpoints", { settings, secret: secrets[0] }))
  const change = { revision: created.answer.revision, settings: { Description: "changed" } }
  const changed = await timed(ask(`PATCH ${path}`, change))
  const rotated = await timed(ask(`POST ${path}/rotate`, { secret: secrets[1], overlapSeconds: 60 }))
  await until(async () => (await receiver.takenAt(`ok/${number}`)) > 0, arrivesWithinMs, `${name} had an event`)
  const removed = await timed(ask(`POST ${path}/remove`, {}))
  return {
    tookMs: { create: created.tookMs, change: changed.tookMs, rotate: rotated.tookMs, remove: removed.tookMs },
    startsAfter: created.answer.startsAfter,
    endpoint: `ok/${number}`,
    removedAtMs: now()
  }
}

/** What a dispatcher spends on a change while no events come. */
const cpuOfChange = async ({ receiver }: Rig, { ask, dispatcherCpuSeconds }: Console) => {
  let { revision } = await ask("POST /endpoints", { settings: { Name: "quiet", Url: receiver.url("ok", 0) } })
  const before = dispatcherCpuSeconds()
  for (let count = 0; count < quietChanges; count += 1) {
    const changes = { revision, settings: { Description: `changed ${count}` } }
    revision = (await ask("PATCH /endpoints/quiet", changes)).revision
  }
  const cpuMs = ((dispatcherCpuSeconds() - before) * 1_000) / quietChanges
  await ask("POST /endpoints/quiet/remove", {})
  return cpuMs
}

const among = (count: number): Promise<Findings> =>
  withRig(async (rig) => {
    const console = await startConsole(rig.nats.url)
    try {
      const beganMs = performance.now()
      await standing(rig, console, count)
      const madePerSecond = (count / (performance.now() - beganMs)) * 1_000
      const cpuMs = await cpuOfChange(rig, console)
      await rig.receiver.reset()
      const publishing = publishAtRate(rig.jetstream, eventsPerSecond, secondsOfEvents)
      await until(async () => (await rig.receiver.taken()) > eventsPerSecond, arrivesWithinMs, "events arrived")
      const seen: Array<Round> = []
      const endMs = performance.now() + secondsOfRounds * 1_000
      while (performance.now() < endMs && seen.length < roundsMax)
        seen.push(await liveOfOne(rig, console, seen.length + 1))
      const published = await publishing
      const all = async () => (await rig.receiver.arrivals()).filter(([, endpoint]) => endpoint === "ok/0")
      await until(async () => (await all()).length >= published.confirmedAtMs.size, arrivesWithinMs, "all had arrived")
      return findingsOf({ count, madePerSecond, cpuMs, seen, arrivals: await rig.receiver.arrivals() })
    } finally {
      await console.end()
    }
  })

interface Measured {
  readonly count: number
  readonly madePerSecond: number
  readonly cpuMs: number
  readonly seen: ReadonlyArray<Round>
  readonly arrivals: Awaited<ReturnType<Rig["receiver"]["arrivals"]>>
}

const findingsOf = ({ count, madePerSecond, cpuMs, seen, arrivals }: Measured): Findings => {
  const figure = figuresOf(`${count} endpoints, ${eventsPerSecond} events/s`)
  const firsts = seen.map(({ endpoint }) => arrivals.find(([, at]) => at === endpoint)?.[4])
  const begunElsewhere = seen.filter(({ startsAfter }, index) => firsts[index] !== startsAfter + 1)
  const late = seen.flatMap(({ endpoint, removedAtMs }) =>
    arrivals.filter(([, at, , atMs]) => at === endpoint && atMs > removedAtMs)
  )
  const acts = ["create", "change", "rotate", "remove"] as const
  return {
    figures: [
      figure("endpoints made, without events", madePerSecond, "/s"),
      figure("a dispatcher's processor for a change", cpuMs, "ms"),
      ...acts.flatMap((act) => {
        const ms = seen.map(({ tookMs }) => tookMs[act])
        return [figure(`${act}, p50`, percentile(ms, 0.5), "ms"), figure(`${act}, slowest`, Math.max(...ms), "ms")]
      }),
      figure("endpoints made, given an event and removed", seen.length, ""),
      figure(
        "of them, not sent the first event after their making first",
        begunElsewhere.length,
        "",
        exactly(0, begunElsewhere.length)
      ),
      figure("requests after the answer of a removal", late.length, "", exactly(0, late.length))
    ],
    series: []
  }
}

/** Among ten thousand an act is to cost no more than among ten; twice is what these machines' noise is allowed. */
export const changes = async (): Promise<Findings> => {
  const few = await among(fewEndpoints)
  const many = await among(manyEndpoints)
  const value = (found: Findings, name: string) => found.figures.find((one) => one.name === name)?.value ?? Number.NaN
  const figure = figuresOf("changes among many endpoints")
  const ratios = ["a dispatcher's processor for a change", "create, p50", "change, p50", "remove, p50"].map((name) => {
    const ratio = value(many, name) / value(few, name)
    return figure(`${name}: among ${manyEndpoints} over among ${fewEndpoints}`, ratio, "x", {
      target: "< 2 x",
      met: ratio < 2
    })
  })
  return joined([few, many, { figures: ratios, series: [] }])
}
