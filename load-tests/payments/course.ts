/** Paid calls to one server: signed before the clock starts, at a rate or as fast as they go, and counted. */
import type { PaymentRequired } from "#payments/contract"
import type { LocalAccount } from "#dev/chain"
import { closedLoop, openLoop } from "../loops.ts"
import { type Answered, type Client, markOf, openClient, quoteFrom, timedModel } from "./client.ts"
import { signCall, type SignedCall } from "./payers.ts"

export interface Course {
  readonly client: Client
  readonly quote: PaymentRequired
  readonly payers: ReadonlyArray<LocalAccount>
  readonly model: string
  /** Counted over all of a run, so that no two calls have one mark. */
  readonly marks: { next: number }
  readonly served: { count: number; refused: number }
}

export interface TimedCall extends Answered {
  readonly nonce: string
  readonly mark: string
}

const signedAhead = ({ payers, quote }: Course, count: number): ReadonlyArray<SignedCall> =>
  Array.from({ length: count }, (_, index) => signCall(payers[index % payers.length] as LocalAccount, quote))

const payOne = async ({ client, marks, served, model }: Course, { header, nonce }: SignedCall): Promise<TimedCall> => {
  const mark = markOf(++marks.next)
  const answer = await client.call({ payment: header, mark, model })
  if (answer.status === 200) served.count += 1
  else {
    served.refused += 1
    process.stderr.write(`answered ${answer.status}: ${answer.text.slice(0, 200)}\n`)
  }
  return { ...answer, nonce, mark }
}

/** Milliseconds for all of them. */
export const closedPaid = async (course: Course, count: number, inFlight: number) => {
  const signed = signedAhead(course, count)
  const from = performance.now()
  await closedLoop(count, inFlight, (index) => payOne(course, signed[index] as SignedCall))
  return performance.now() - from
}

export const openPaid = async (course: Course, perSecond: number, seconds: number) => {
  const signed = signedAhead(course, perSecond * seconds)
  return openLoop(perSecond, seconds, (index) => payOne(course, signed[index] as SignedCall))
}

export const courseTo = async (
  url: string,
  payers: ReadonlyArray<LocalAccount>,
  model: string = timedModel
): Promise<Course> => {
  const client = openClient(url, 256)
  return {
    client,
    quote: await quoteFrom(client, model),
    payers,
    model,
    marks: { next: 0 },
    served: { count: 0, refused: 0 }
  }
}
