/** The three jobs as steady loads: events out, paid and unpaid calls, speech. Each counts what did not come to its end. */
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import type { LocalAccount } from "#dev/chain"
import { connectionTo } from "#dev/fixtures/bus-address"
import { pause, steadyLoop } from "../loops.ts"
import { markOf, openClient, quoteFrom } from "../payments/client.ts"
import { signCall } from "../payments/payers.ts"
import type { Chance } from "../seeded.ts"
import { speak } from "../speech/client.ts"
import { mixed } from "../speech/texts.ts"
import { publishAtRate } from "../webhooks/publisher.ts"
import type { SoakWorld } from "./world.ts"

export interface Rates {
  readonly events: number
  readonly streams: number
  readonly paid: number
  readonly unpaid: number
}

/** So that together they take about as much of a processor each. */
export const ratesOf = (events: number): Rates => ({
  events,
  streams: events / 50,
  paid: events / 25,
  unpaid: events / 10
})

const runningMax = 64
const againMax = 10
const againMs = 1_000

export const publishEvents = async (world: SoakWorld, rate: number, seconds: number) => {
  const connection = await connect({ ...connectionTo(world.bus), maxReconnectAttempts: -1 })
  try {
    return await publishAtRate(jetstream(connection), rate, seconds)
  } finally {
    await connection.close()
  }
}

const formats = ["pcm_24000", "mp3_24000_64", "mp3_24000_64", "ogg_24000", "aac_24000"]

export const speakOn = async (world: SoakWorld, rate: number, seconds: number, chance: Chance) => {
  const firstByteMs: Array<number> = []
  let lost = 0
  const { begun, heldUp } = await steadyLoop(rate, seconds, runningMax, async () => {
    const order = { input: mixed(Math.floor(chance.next() * 1_000)), output_format: chance.among(formats) }
    const { status, isWhole, body, firstByteMs: ms } = await speak(world, order)
    if (status === 200 && isWhole && body.length > 0) firstByteMs.push(ms)
    else {
      lost += 1
      const why = status === 200 ? `after ${body.length} bytes` : body.toString("utf8", 0, 300)
      const told = `${status}, ${isWhole ? "whole" : "broken off"}, ${why}`
      if (lost <= 5) process.stderr.write(`a stream of ${order.output_format} was lost: ${told}\n`)
    }
  })
  return { begun, heldUp, lost, firstByteMs }
}

const unanswered = { status: 0, text: "no answer" }
const isLater = (status: number) => status === 503 || status === unanswered.status

/** One payer, whose calls follow each other. */
export const payOn = async (world: SoakWorld, rate: number, seconds: number) => {
  const client = openClient(world.gateway, 4)
  const quote = await quoteFrom(client)
  const ms: Array<number> = []
  let [served, refused] = [0, 0]
  let turn: Promise<unknown> = Promise.resolve()
  const call = (payment: string, index: number) => client.call({ payment, mark: markOf(index) }).catch(() => unanswered)
  const pay = async (index: number) => {
    const { header } = signCall(world.chain.payer as LocalAccount, quote)
    const from = performance.now()
    let answer = await call(header, index)
    // Settled later than a caller waits: its answer is kept, and the same payment gets it.
    for (let again = 0; again < againMax && isLater(answer.status); again++) {
      await pause(againMs)
      answer = await call(header, index)
    }
    ms.push(performance.now() - from)
    if (answer.status === 200) served += 1
    else {
      refused += 1
      if (refused <= 5)
        process.stderr.write(`a paid call was answered ${answer.status}: ${answer.text.slice(0, 200)}\n`)
    }
  }
  const { begun, heldUp } = await steadyLoop(rate, seconds, runningMax, async (index) => {
    const mine = turn.then(() => pay(index))
    turn = mine.catch(() => undefined)
    await mine
  })
  await client.close()
  return { begun, heldUp, served, refused, ms, quote }
}

export const askOn = async (world: SoakWorld, rate: number, seconds: number) => {
  const client = openClient(world.gateway, 8)
  let wrong = 0
  const { begun } = await steadyLoop(rate, seconds, runningMax, async (index) => {
    const { status } = await client.call({ mark: markOf(index) }).catch(() => unanswered)
    if (status !== 402) wrong += 1
  })
  await client.close()
  return { begun, wrong }
}
