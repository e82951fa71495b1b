/** What a gateway does with a channel, for tests of the settlers: orders, vouchers, charges. */
import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { Kv, Publisher, Requests } from "#bus"
import { ChannelWatch, type ChannelOrder, type ChannelPayload } from "#payments/contract"
import { subjects } from "#base"
import { type Channel, ChannelCommand, channelOrderAnswerCodec, channelOrderCodec, Channels } from "#payments"
import { busOn } from "../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"

export const holder = "gateway-1"

export const channelGateway = Effect.fnUntraced(function* (server: TestNatsServer, network: string) {
  const context = yield* Layer.build(Layer.fresh(Channels.layer.pipe(Layer.provideMerge(busOn(server)))))
  const { channels, requests, kv, publisher } = yield* Effect.provideContext(
    Effect.all({ channels: Channels, requests: Requests, kv: Kv, publisher: Publisher }),
    context
  )
  const watches = yield* kv.open("channel-watches", ChannelWatch)
  const order = (given: ChannelOrder) =>
    requests.ask(
      {
        subject: subjects.paymentsChannels,
        question: channelOrderCodec,
        answer: channelOrderAnswerCodec,
        timeoutMs: 30_000
      },
      given
    )
  const nameOf = ({ voucher }: ChannelPayload) => ({ network, channelId: voucher.channelId })
  const targetOf = (payload: ChannelPayload) => ({ ...nameOf(payload), config: payload.channelConfig })
  const voucherOf = ({ voucher }: ChannelPayload) => ({
    maxClaimable: voucher.maxClaimableAmount,
    signature: voucher.signature
  })
  return {
    channels,
    kv,
    publisher,
    /** Has what the channel owes of receipts written. */
    receipts: (payload: ChannelPayload) => order({ _tag: "Receipt", ...targetOf(payload) }),
    order,
    watches,
    deposit: (payload: Extract<ChannelPayload, { readonly type: "deposit" }>) =>
      order({
        _tag: "Deposit",
        ...targetOf(payload),
        amount: payload.deposit.amount,
        maxClaimable: payload.voucher.maxClaimableAmount,
        authorization:
          "erc3009Authorization" in payload.deposit.authorization
            ? payload.deposit.authorization.erc3009Authorization
            : { ...payload.deposit.authorization.permit2Authorization, approval: null }
      }),
    refund: (payload: ChannelPayload, amount: string | null) =>
      order({ _tag: "Refund", ...targetOf(payload), amount, voucher: voucherOf(payload) }),
    read: (payload: ChannelPayload) => Effect.flatMap(channels.read(nameOf(payload)), Effect.fromOption),
    /** A call that costs `price` of the most that its voucher is for. */
    call: Effect.fnUntraced(function* (payload: ChannelPayload, amount: string, price: string) {
      const ticket = randomUUID()
      const work = { ticket, holder, kind: "whole" as const, voucher: voucherOf(payload), amount, model: "demo/echo" }
      yield* channels.run(nameOf(payload), ChannelCommand.Begin({ work, leaseMs: 15_000 }))
      return (yield* channels.run(nameOf(payload), ChannelCommand.Charge({ ticket, amount: price }))) satisfies Channel
    })
  }
})
