import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { Mailbox, Requests } from "#bus"
import { Configuration } from "#configuration"
import { channelKeyOf, Channels } from "#payments"
import { Metrics } from "#runtime"
import { ChannelPayments } from "../../../../../services/model-gateway/payments/channels/ChannelPayments.ts"
import { PaidAnswers } from "../../../../../services/model-gateway/payments/PaidAnswers.ts"
import { begin, mirror, network, testConfig } from "../../../../libs/payments/channels/channel-at-work.ts"
import { failingAtEach, isAfter, recordedKv, type Recorder, told } from "../../../../support/recorder.ts"

const name = { network, channelId: `0x${"7a".repeat(32)}` }
const payment = {
  voucher: { name, binding: "request of t1", checked: { config: testConfig } },
  ticket: "t1",
  deposit: null,
  admitted: undefined
} as unknown as Parameters<ChannelPayments["Service"]["charge"]>[0]
/** Longer than what the channel's record holds. */
const body = new Uint8Array(10_000)

/** A call that a channel's voucher is stored for is charged; what is recorded is the charge. */
const charged = Effect.fnUntraced(function* (record: Recorder) {
  let isRecording = false
  const call: Recorder["call"] = (what, work) => (isRecording ? record.call(what, work) : work)
  const services = Layer.mergeAll(
    recordedKv({ call }).layer,
    Layer.succeed(PaidAnswers, { keep: () => call("keep the answer", Effect.void) } as never),
    Layer.succeed(Requests, { ask: () => Effect.succeed({ _tag: "Later" }) } as never),
    Layer.succeed(Mailbox, { instance: "gateway" } as never),
    Configuration.layerOf({}),
    Metrics.layerTest
  )
  const built = yield* Layer.build(
    Layer.provide(Layer.merge(ChannelPayments.layer, Layer.fresh(Channels.layer)), services)
  )
  const channels = Context.get(built, Channels)
  yield* channels.run(name, mirror())
  yield* channels.run(name, begin(1_000))
  isRecording = true
  return yield* yield* Context.get(built, ChannelPayments).charge(payment, { charge: 700n, cost: null, body })
}, Effect.scoped)

it.live("a long answer is charged to its channel only after it is kept, whichever write fails", () =>
  Effect.gen(function* () {
    const runs = yield* failingAtEach(charged)
    const charge = `update ${channelKeyOf(name)}`
    for (const run of runs) {
      assert.isTrue(Exit.isSuccess(run.exit), told(run))
      assert.include(run.done, charge, told(run))
      assert.isTrue(isAfter(run, charge, "keep the answer"), told(run))
    }
    assert.isAtLeast(runs.length, 5)
  })
)
