/**
 * One signed authorization sent ten thousand times, a thousand at once and more, to the same call: one is answered,
 * one transfer is made, everybody else is told that it was used. A storm of a thousand others' calls would look alike.
 */
import { atLeast, exactly, figuresOf, type Findings, percentile } from "../figures.ts"
import { closedLoop } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { markOf, openClient, quoteFrom } from "./client.ts"
import { fundedPayers, signCall } from "./payers.ts"
import { withRig } from "./rig.ts"

const figure = figuresOf("replay")
const count = 10_000
const inFlight = 1_200

export const replay = ({ apart }: LoadOptions): Promise<Findings> =>
  withRig(async (rig) => {
    const client = openClient(rig.url, inFlight)
    const [payer] = await fundedPayers(rig.chain, 1)
    const quote = await quoteFrom(client)
    if (payer === undefined) throw new Error("there is no payer")
    const { header } = signCall(payer, quote)
    let [running, mostAtOnce] = [0, 0]
    const from = performance.now()
    const answers = await closedLoop(count, inFlight, async () => {
      mostAtOnce = Math.max(mostAtOnce, ++running)
      const answer = await client.call({ payment: header, mark: markOf(1) })
      running -= 1
      return answer
    })
    const rate = (count / (performance.now() - from)) * 1_000
    await client.close()
    const served = answers.filter(({ status }) => status === 200)
    const replays = answers.filter(({ status, text }) => status === 402 && text.includes('"PAYMENT_REPLAY"'))
    const others = answers.filter((answer) => !served.includes(answer) && !replays.includes(answer))
    const { transfers, receipts, open } = await rig.books()
    const ms = answers.map((answer) => answer.ms)
    return {
      figures: [
        figure("replays of one authorization", count, ""),
        figure("in flight at once", mostAtOnce, "", atLeast(1_000, mostAtOnce, "")),
        figure("served", served.length, "", exactly(1, served.length)),
        figure("told PAYMENT_REPLAY", replays.length, "", exactly(count - 1, replays.length)),
        figure("answered anything else", others.length, "", exactly(0, others.length)),
        figure("transfers on the chain", transfers, "", exactly(1, transfers)),
        figure("receipts", receipts, "", exactly(1, receipts)),
        figure("claims that are open", open, "", exactly(0, open)),
        figure("rate", rate, "/s"),
        figure("p50", percentile(ms, 0.5), "ms"),
        figure("p99", percentile(ms, 0.99), "ms")
      ],
      series: []
    }
  }, apart)
