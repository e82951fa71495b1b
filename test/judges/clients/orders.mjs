// Orders, one a line of JSON, each done by the client and answered by a line: it starts once for all of them.
import { createInterface } from "node:readline"
import { payingFetch, refund } from "./paying.mjs"

const mark = "told: "

/** What an error says of itself, and what it was made of. */
const faultOf = (error) => ({
  name: error?.constructor?.name ?? typeof error,
  status: error?.status ?? error?.statusCode ?? error?.cause?.status ?? null,
  code: error?.code ?? error?.error?.code ?? error?.cause?.code ?? null,
  message: String(error?.message ?? error)
})

export const serve = async (act) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line)
    const told = await (order.refund === undefined ? perform(act, order) : refund(order.pays, order.refund)).catch(
      (error) => ({ fault: faultOf(error) })
    )
    process.stdout.write(`${mark}${JSON.stringify(told ?? {})}\n`)
  }
}

const perform = async (act, order) => ({ texts: await act({ ...order, fetch: await payingFetch(order.pays) }) })

/** One pixel. */
export const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
