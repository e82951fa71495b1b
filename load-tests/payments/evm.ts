/**
 * Verifying and settling on a local EVM chain, ours and the widely used facilitator's in the same run, beside the
 * bare call of the chain that both must make. All in one process, the chain in its own: two cores for everything.
 */
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Result } from "effect"
import type { PaymentPayload } from "#payments/contract"
import { type EvmPayment, signAuthorization, transferWithAuthorization } from "#payments"
import { bytesOf, hexOf } from "#payments/evm-encoding"
import { asset, payTo, requirementsOf } from "#dev/fixtures/evm/payments"
import { type EvmFixture, startEvmFixture } from "#dev/fixtures/evm/fixture"
import { referenceFacilitator } from "#dev/fixtures/evm/reference-facilitator"
import { atLeast, atMost, distribution, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { type Timed, timedLoop } from "../loops.ts"

const inFlight = [1, 8, 32] as const
const requirements = requirementsOf({ amount: "1000" })
const counts = { verify: 4_000, stockVerify: 300, settle: 1_000, stockSettle: 100, warmUp: 300 }

/** As a client signs, but quickly: what is measured begins with the verification. */
const signed = (rig: EvmFixture): PaymentPayload => {
  const now = Math.floor(Date.now() / 1_000)
  const nonce = hexOf(randomBytes(32))
  const from = rig.chain.payer.address
  const authorization = {
    from,
    to: payTo,
    value: 1_000n,
    validAfter: BigInt(now - 600),
    validBefore: BigInt(now + 600),
    nonce
  }
  const domain = { name: "USDC", version: "2", chainId: 84_532n, asset }
  const signature = signAuthorization(bytesOf(rig.chain.payer.privateKey), domain, authorization)
  const written = { value: "1000", validAfter: String(now - 600), validBefore: String(now + 600) }
  return {
    x402Version: 2,
    accepted: requirements,
    payload: { signature, authorization: { from, to: payTo, nonce, ...written } }
  }
}

const verify = async (rig: EvmFixture, payload: PaymentPayload): Promise<EvmPayment> => {
  const good = Result.getOrThrow(rig.scheme.check(payload, requirements, Date.now()))
  await rig.run(rig.scheme.simulate(good))
  return good
}

const figure = figuresOf("evm payments")
const shown = (name: string, { ms, perSecond }: Timed): ReadonlyArray<Figure> => [
  figure(`${name}, p50`, percentile(ms, 0.5), "ms"),
  figure(`${name}, p99`, percentile(ms, 0.99), "ms"),
  figure(`${name}, rate`, perSecond, "/s")
]

const verifying = async (rig: EvmFixture): Promise<Findings> => {
  const stock = referenceFacilitator(rig.chain)
  const figures: Array<Figure> = []
  const lines: Array<{ name: string; values: ReadonlyArray<number> }> = []
  const payloads = Array.from({ length: counts.verify }, () => signed(rig))
  const at = (index: number) => payloads[index % payloads.length] as PaymentPayload
  const goods = payloads.map((payload) => Result.getOrThrow(rig.scheme.check(payload, requirements, Date.now())))
  const bareCall = async (index: number) => {
    const good = goods[index % goods.length] as EvmPayment
    const data = transferWithAuthorization(good.authorization, good.signature)
    await rig.run(rig.scheme.node.call(good.asset, data))
  }
  await timedLoop(counts.warmUp, 8, async (index) => void (await verify(rig, at(index))))
  await timedLoop(counts.warmUp / 10, 8, async (index) => void (await stock.verdict(at(index), requirements)))
  const checks = await timedLoop(counts.verify, 1, async (index) => {
    Result.getOrThrow(rig.scheme.check(at(index), requirements, Date.now()))
  })
  figures.push(...shown("checks alone", checks))
  for (const width of inFlight) {
    const bare = await timedLoop(counts.verify, width, bareCall)
    const ours = await timedLoop(counts.verify, width, async (index) => void (await verify(rig, at(index))))
    const others = await timedLoop(counts.stockVerify, width, async (index) => {
      if ((await stock.verdict(at(index), requirements)) !== "valid") throw new Error("the other one refused")
    })
    const times = ours.perSecond / others.perSecond
    figures.push(...shown(`bare call of the chain, ${width} in flight`, bare))
    figures.push(...shown(`verify, ${width} in flight`, ours))
    figures.push(...shown(`the other one's verify, ${width} in flight`, others))
    figures.push(figure(`verify over the other one's, ${width} in flight`, times, "times", atLeast(5, times, "times")))
    lines.push({ name: `ours, ${width}`, values: distribution(ours.ms) })
    if (width === 1) {
      const p99 = percentile(ours.ms, 0.99)
      figures.push(figure("verify alone, p99", p99, "ms", atMost(3, p99, "ms")))
    }
  }
  return { figures, series: [{ title: "verify on a local EVM chain", unit: "ms", lines }] }
}

const rssMb = (pid: number) => {
  const line = /VmRSS:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? Number.NaN) / 1_024
}

const settling = async (rig: EvmFixture): Promise<Findings> => {
  const stock = referenceFacilitator(rig.chain)
  const account = rig.scheme.account((await rig.lease(0)).key)
  const settle = async () => {
    const good = Result.getOrThrow(rig.scheme.check(signed(rig), requirements, Date.now()))
    await rig.run(
      Effect.gen(function* () {
        const lease = yield* account.take
        const prepared = yield* rig.scheme.prepare(good, lease)
        yield* rig.scheme.broadcast(prepared, good)
        yield* account.end(lease, "used")
      })
    )
  }
  await timedLoop(20, 1, settle)
  const before = rssMb(rig.chain.pid)
  const figures: Array<Figure> = []
  for (const width of inFlight)
    figures.push(...shown(`settle, ${width} in flight`, await timedLoop(counts.settle, width, settle)))
  const others = await timedLoop(counts.stockSettle, 1, async () => {
    if (!(await stock.settle(signed(rig), requirements)).success) throw new Error("the other one did not settle")
  })
  figures.push(...shown("the other one's settle, 1 in flight", others))
  const after = rssMb(rig.chain.pid)
  figures.push(figure("the chain's memory before", before, "MB"))
  figures.push(figure("the chain's memory after", after, "MB", atMost(300, after, "MB")))
  return { figures, series: [] }
}

const withRig = async (use: (rig: EvmFixture) => Promise<Findings>): Promise<Findings> => {
  const began = performance.now()
  const rig = await startEvmFixture()
  const startMs = performance.now() - began
  const found = await use(rig).finally(rig.end)
  const start = figure("start of the chain with all that is on it", startMs, "ms", atMost(300, startMs, "ms"))
  return { ...found, figures: [...found.figures, start] }
}

export const evmVerify = (): Promise<Findings> => withRig(verifying)
export const evmSettle = (): Promise<Findings> => withRig(settling)

if (import.meta.main) {
  for (const scenario of [evmVerify, evmSettle]) {
    const { figures } = await scenario()
    for (const { name, value, unit, target, met } of figures) {
      const verdict = target === undefined ? "" : `  (${target}: ${met === true ? "met" : "missed"})`
      process.stdout.write(`${name}: ${value.toFixed(2)} ${unit}${verdict}\n`)
    }
  }
}
