/**
 * Paid calls, whole: from the request with its payment to the answer with its receipt, at a fixed rate whether or not
 * those before have ended, and as fast as they go. Of each the time of the chain and the provider is taken off: what
 * is left is ours. Beside it the same calls to a server of the protocol's own parts, on the same chain and provider; as
 * fast as they go, both in turn.
 */
import { join } from "node:path"
import type { PaymentRequired } from "#payments/contract"
import {
  atLeast,
  atMost,
  distribution,
  exactly,
  figuresOf,
  type Findings,
  percentile,
  type Series
} from "../figures.ts"
import { startHelper } from "../children.ts"
import type { LoadOptions } from "../options.ts"
import { undisturbed } from "../undisturbed.ts"
import { closedPaid, type Course, courseTo, openPaid, type TimedCall } from "./course.ts"
import { calledInTurn } from "./in-turn.ts"
import { fundedPayers } from "./payers.ts"
import { proxyCostMs } from "./proxy-cost.ts"
import { payTo, type Rig, withRig } from "./rig.ts"
import { type Outside, outsideByKey, stagesBetween } from "./stages.ts"
import { measureUnpaid } from "./unpaid.ts"

const figure = figuresOf("paid")
const load = { perSecond: 40, rounds: 4, roundSeconds: 2, inFlight: 32, callsInRound: 500, warmUp: 1_600 }
const payersCount = 64
// The reference is paid into an account of its own, so that the books can be told apart.
const referencePayTo = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

const closedRate = `paid, ${load.inFlight} in flight`

/** Of each call what is ours: without the chain, the provider, and what the proxy between them and us takes itself. */
const addedOf = (calls: ReadonlyArray<TimedCall>, passed: ReadonlyMap<string, Outside>, proxyMs: number) =>
  calls.map(({ ms, nonce, mark }) => {
    const [chain, provider] = [passed.get(nonce) ?? unseen, passed.get(mark) ?? unseen]
    const isAll = chain.questions > 0 && provider.questions > 0
    const added = ms - chain.ms - provider.ms - proxyMs * (chain.questions + provider.questions)
    return { added: isAll ? added : Number.NaN, chain: chain.ms, provider: provider.ms }
  })

const unseen: Outside = { ms: 0, questions: 0 }

const measureOurs = async (rig: Rig, course: Course): Promise<Findings> => {
  const figures = [...(await measureUnpaid(course, "ours", true))]
  await closedPaid(course, load.warmUp, load.inFlight)
  const proxyMs = await proxyCostMs(rig.chain.rpcUrl, rig.proxy.chain)
  await rig.proxy.begin()
  const before = await rig.metrics()
  const rounds = await undisturbed(load.rounds, () => openPaid(course, load.perSecond, load.roundSeconds))
  const calls = rounds.results.flat()
  const after = await rig.metrics()
  const parts = addedOf(calls, outsideByKey(await rig.proxy.report()), proxyMs)
  const total = calls.map(({ ms }) => ms)
  const added = parts.map((part) => part.added)
  const p50 = percentile(added, 0.5)
  const at = `ours: paid at ${load.perSecond}/s`
  const median = (name: string, values: ReadonlyArray<number>) =>
    figure(`${at}, ${name}`, percentile(values, 0.5), "ms")
  figures.push(
    median("in all, p50", total),
    figure(`${at}, in all, p99`, percentile(total, 0.99), "ms"),
    median(
      "of it the chain, p50",
      parts.map(({ chain }) => chain)
    ),
    median(
      "of it the provider, p50",
      parts.map(({ provider }) => provider)
    ),
    figure(`${at}, of it the proxy that takes the times, for each question`, proxyMs, "ms"),
    figure(`${at}, added, p50`, p50, "ms", atMost(6, p50, "ms")),
    figure(`${at}, added, p99`, percentile(added, 0.99), "ms"),
    figure(`${at}, of ${load.rounds} rounds disturbed`, rounds.disturbed, ""),
    ...stagesBetween(before, after).map(({ name, ms }) => figure(`stage: ${name}, mean`, ms, "ms"))
  )
  return { figures, series: [{ title: "paid calls, ours", unit: "ms", lines: lines({ total, added }) }] }
}

const lines = (values: Readonly<Record<string, ReadonlyArray<number>>>): Series["lines"] =>
  Object.entries(values).map(([name, all]) => ({ name, values: distribution(all) }))

const measureReference = async (rig: Rig, course: Course): Promise<Findings> => {
  const figures = [...(await measureUnpaid(course, "reference", false))]
  await closedPaid(course, load.warmUp / 8, load.inFlight)
  await rig.proxy.begin()
  const calls = await openPaid(course, load.perSecond / 2, load.rounds * load.roundSeconds)
  const passed = await rig.proxy.report()
  const outside = passed.reduce((sum, { ms }) => sum + ms, 0) / calls.length
  const total = calls.map(({ ms }) => ms)
  const at = `at ${load.perSecond / 2}/s`
  figures.push(
    figure(`reference: paid ${at}, in all, p50`, percentile(total, 0.5), "ms"),
    figure(`reference: paid ${at}, in all, p99`, percentile(total, 0.99), "ms"),
    figure(`reference: paid ${at}, of it chain and provider, mean`, outside, "ms")
  )
  return { figures, series: [] }
}

export const withReference = async <A>(
  rig: Rig,
  { accepts }: PaymentRequired,
  use: (url: string, pid: number) => Promise<A>
): Promise<A> => {
  const { settlers } = rig.chain
  const key = settlers.at(-1)?.privateKey ?? ""
  const [offer] = accepts
  const terms = [key, referencePayTo, offer?.amount ?? "", offer?.asset ?? ""]
  const reference = await startHelper<{ url: string }>(
    join(import.meta.dirname, "reference-server.ts"),
    rig.proxy.chain,
    rig.proxy.provider,
    ...terms
  )
  try {
    return await use(reference.said.url, reference.pid)
  } finally {
    await reference.end()
  }
}

const paidBy = (course: Course) => (count: number, inFlight: number) => closedPaid(course, count, inFlight)

const rateOf = ({ figures }: Findings, name: string) => figures.find((one) => one.name === name)?.value ?? Number.NaN

/** Both servers in one run, and the books afterwards. */
export const paid = ({ apart }: LoadOptions): Promise<Findings> =>
  withRig(async (rig) => {
    const payers = await fundedPayers(rig.chain, payersCount)
    const course = await courseTo(rig.url, payers)
    const ours = await measureOurs(rig, course)
    const theirs = await withReference(rig, course.quote, async (url, pid) => {
      const other = await courseTo(url, payers)
      const found = await measureReference(rig, other)
      const servers = [
        { name: "ours", pids: rig.pids, callsInRound: load.callsInRound, call: paidBy(course) },
        { name: "reference", pids: [pid], callsInRound: load.callsInRound / 4, call: paidBy(other) }
      ]
      const called = await calledInTurn(servers, { inFlight: load.inFlight, slices: 1 })
      const inTurn = called.servers.flatMap(({ name, perSecond, cpuMs }) => [
        figure(`${name}: ${closedRate}`, perSecond, "/s"),
        figure(`${name}: processor time of a paid call`, cpuMs, "ms")
      ])
      await other.client.close()
      const refused = figure("reference: refused", other.served.refused, "")
      const disturbed = figure(`${closedRate}, of ${called.rounds} rounds disturbed`, called.disturbed, "")
      return { ...found, figures: [...found.figures, ...inTurn, disturbed, refused] }
    })
    await course.client.close()
    const { transfers, receipts, settled, open } = await rig.books()
    const times = rateOf(theirs, `ours: ${closedRate}`) / rateOf(theirs, `reference: ${closedRate}`)
    const figures = [
      ...ours.figures,
      ...theirs.figures,
      figure("paid calls over the reference's", times, "times", atLeast(2, times, "times")),
      figure("answers served", course.served.count, ""),
      figure("paid calls refused", course.served.refused, "", exactly(0, course.served.refused)),
      figure(`transfers to ${payTo.slice(0, 6)}`, transfers, "", exactly(course.served.count, transfers)),
      figure("receipts", receipts, "", exactly(course.served.count, receipts)),
      figure("claims that are settled", settled, "", exactly(course.served.count, settled)),
      figure("claims that are open", open, "", exactly(0, open))
    ]
    return { figures, series: [...ours.series, ...theirs.series] }
  }, apart)
