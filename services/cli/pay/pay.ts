/**
 * Requests the gateway's quote, signs it and shows the answer as it streams in. The quote, the receipt and the wallet's
 * balance before and after go to standard error. The key is read and never shown.
 */
import { Effect, Option, Result } from "effect"
import type { HttpClientResponse } from "effect/http"
import { channelScheme } from "#payments/contract"
import { CannotPay, openWallet, type PayQuote, readQuote, usdText, type Wallet } from "#payments"
import { CommandRefused, misused } from "../console.ts"
import { channelFacts, channelLines, payByChannel, refundChannel } from "./by-channel.ts"
import { callGateway, callPaid, firstSold, type PaidAnswer, refusedBy, takeAnswer } from "./gateway.ts"
import { writeError, writeOut } from "../screen.ts"
import { findPayFleet, type PayFlags, type PayOrder, readOrder } from "./order.ts"

export const pay = Effect.fnUntraced(function* (given: PayFlags) {
  const asked = yield* readOrder(given)
  const fleet = yield* findPayFleet(asked)
  const wallet = yield* asRefused(openWallet(asked.chain, fleet))
  const order = given.model === undefined ? { ...asked, model: yield* firstSold(fleet.gatewayUrl) } : asked
  const response = yield* callGateway(fleet.gatewayUrl, order, Option.none())
  if (isOk(response)) return yield* free(order, response)
  if (response.status !== 402) return yield* refusedBy(response, false)
  // Read to its end, so that the paid call can reuse its connection.
  yield* Effect.ignore(response.arrayBuffer)
  const read = readQuote(response.headers["payment-required"], { ...order, limitName: "--max-usd" })
  if (Result.isFailure(read)) return yield* new CommandRefused({ reason: read.failure })
  const quote = read.success
  const before = yield* asRefused(wallet.balance(quote))
  printLine(order, quoteLine(order, quote))
  printLine(order, `wallet:   ${wallet.address} has ${usdText(before)} USD`)
  const { channels } = wallet
  const { requirements: offer } = quote
  const answered =
    channels !== null && offer.scheme === channelScheme
      ? yield* refusing(payByChannel(order, { gatewayUrl: fleet.gatewayUrl, channels, offer }))
      : yield* callPaid(fleet.gatewayUrl, order, yield* asRefused(wallet.sign(quote)))
  if (!isOk(answered)) return yield* refusedBy(answered, true)
  const answer = yield* takeAnswer(answered, shower(order))
  // The answer is paid for and shown, whether or not the chain answers again.
  const after = Option.getOrUndefined(yield* Effect.option(wallet.balance(quote)))
  return report(order, { quote, wallet, before, after, answer })
})

/** Refunds the rest of the payer's channel to the gateway. */
export const refund = Effect.fnUntraced(function* (given: PayFlags) {
  const order = yield* readOrder({ ...given, words: ["a refund"] })
  const fleet = yield* findPayFleet(order)
  const wallet = yield* asRefused(openWallet(order.chain, fleet))
  if (wallet.channels === null) return yield* misused(`there are no payment channels on ${order.chain}`)
  const receipt = yield* refusing(refundChannel(order, fleet.gatewayUrl, wallet.channels))
  const refundedUsd = usdText(BigInt(receipt?.amount === "" ? 0 : (receipt?.amount ?? 0)))
  const transaction = receipt?.transaction ?? null
  if (order.isJson) return writeJson({ refundedUsd, transaction, payer: wallet.address })
  return printLine(order, `refund:   ${refundedUsd} USD to ${wallet.address}, ${transaction}`)
})

/** An unreadable key is the caller's mistake. */
const asRefused = <A>(work: Effect.Effect<A, CannotPay>) =>
  Effect.catch(work, ({ what, reason }) => (what === "key" ? misused(reason) : new CommandRefused({ reason })))

const refusing = <A, E>(work: Effect.Effect<A, E | CannotPay>) =>
  Effect.mapError(work, (error) => (error instanceof CannotPay ? new CommandRefused({ reason: error.reason }) : error))

const isOk = ({ status }: HttpClientResponse.HttpClientResponse) => status >= 200 && status < 300

type Receipt = NonNullable<PaidAnswer["receipt"]>

interface Paid {
  readonly quote: PayQuote
  readonly wallet: Wallet
  readonly before: bigint
  /** Undefined if the chain did not answer. */
  readonly after: bigint | undefined
  readonly answer: PaidAnswer
}

const free = Effect.fnUntraced(function* (order: PayOrder, response: HttpClientResponse.HttpClientResponse) {
  const { text } = yield* takeAnswer(response, shower(order))
  if (order.isJson) return writeJson({ model: order.model, answer: text, priceUsd: "0.000000" })
  writeOut("\n")
  return printLine(order, `${order.model} is free, nothing was paid`)
})

const report = (order: PayOrder, { quote, wallet, before, after, answer }: Paid) => {
  const { receipt, text } = answer
  const { network, payTo, asset, scheme } = quote.requirements
  const charged = scheme === "upto" && receipt?.success === true ? chargedIn(receipt) : undefined
  const byChannel = scheme === channelScheme ? channelFacts(receipt) : undefined
  if (order.isJson) {
    return writeJson({
      model: order.model,
      answer: text,
      priceUsd: usdText(quote.microUsd),
      scheme,
      ...(charged === undefined ? {} : { chargedUsd: usdText(charged) }),
      network,
      asset,
      payer: wallet.address,
      payTo,
      settled: receipt?.success === true,
      transaction: receipt?.transaction ?? null,
      ...(byChannel === undefined ? {} : { channel: byChannel }),
      balanceBeforeUsd: usdText(before),
      balanceAfterUsd: after === undefined ? null : usdText(after)
    })
  }
  writeOut("\n")
  if (byChannel !== undefined) {
    for (const line of channelLines(byChannel)) printLine(order, line)
    return printLine(order, `wallet:   ${leftText(after)}`)
  }
  printLine(
    order,
    receipt?.success === true ? `receipt:  ${receiptText(receipt)}` : "receipt:  the chain has not spoken yet"
  )
  if (charged !== undefined) {
    printLine(order, `charged:  ${usdText(charged)} USD of the ${usdText(quote.microUsd)} that were signed`)
  }
  const paid = after === undefined ? "" : `, ${usdText(before - after)} paid`
  return printLine(order, `wallet:   ${leftText(after)}${paid}`)
}

const leftText = (after: bigint | undefined) =>
  after === undefined ? "the chain does not say what is left" : `${usdText(after)} USD left`

/** The token has six decimals. */
const chargedIn = ({ amount }: Receipt) => (amount === undefined ? undefined : BigInt(amount))

const receiptText = ({ transaction }: Receipt) => (transaction === "" ? "no transaction was needed" : transaction)

const quoteLine = ({ model }: PayOrder, { quote, requirements, microUsd }: PayQuote) => {
  const what = quote.resource.description ?? model
  const most = requirements.scheme === "exact" ? "" : "at most "
  const how = requirements.scheme === channelScheme ? "by channel to" : "to"
  return `quote:    ${most}${usdText(microUsd)} USD ${how} ${requirements.payTo} on ${requirements.network} for ${what}`
}

/** Prints words as they arrive; with --json everything is printed at the end. */
const shower = ({ isJson }: PayOrder) => (isJson ? () => undefined : writeOut)

const printLine = ({ isJson }: PayOrder, line: string) => void (isJson || writeError(`${line}\n`))

const writeJson = (value: unknown) => writeOut(`${JSON.stringify(value)}\n`)
