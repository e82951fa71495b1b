/**
 * What a question costs more because it goes through the proxy that takes the times: the same question, past it and
 * through it in turn, at the pace of the calls. Without the proxy nobody would wait for that.
 */
import { Pool } from "undici"
import { percentile } from "../figures.ts"
import { pause } from "../loops.ts"

const pairs = 200
const pacedMs = 12
const question = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] })

const asker = (origin: string) => {
  const pool = new Pool(origin, { connections: 1, pipelining: 1 })
  const ask = async () => {
    const from = performance.now()
    const { body } = await pool.request({
      method: "POST",
      path: "/",
      headers: { "content-type": "application/json" },
      body: question
    })
    await body.text()
    return performance.now() - from
  }
  return { ask, close: () => pool.close() }
}

/** Milliseconds, at the median of both. `pauseMs`: before each question; none for calls that come one right after the other. */
export const proxyCostMs = async (past: string, through: string, pauseMs = pacedMs): Promise<number> => {
  const askers = [asker(past), asker(through)] as const
  const ms: readonly [Array<number>, Array<number>] = [[], []]
  for (let pair = 0; pair < pairs; pair++) {
    for (const [which, { ask }] of askers.entries()) {
      if (pauseMs > 0) await pause(pauseMs)
      ms[which]?.push(await ask())
    }
  }
  for (const { close } of askers) await close()
  return Math.max(0, percentile(ms[1], 0.5) - percentile(ms[0], 0.5))
}
