import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { jsonCodec, Requests } from "#bus"
import { CommandAnswer, CommandRequest } from "#pipeline/contract"
import { subjects } from "#base"
import { Metrics } from "#runtime"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { CommandClient, findingsOf, toAgent } from "../../../services/sweeper/command-client.ts"
import { inProcess } from "./actors-at-work.ts"

const question = jsonCodec(CommandRequest)
const answer = jsonCodec(CommandAnswer)
const accepted: CommandAnswer = { _tag: "Accepted", was: "decided", sequence: 3, state: {} }
const expire = (id: string) => toAgent({ id, sequence: 5 }, "pause-expired", { _tag: "ExpirePause" })

/** A process with an actor that answers like that; its requests are kept. */
const withActor = <A, E, R>(
  configuration: unknown,
  answers: (request: CommandRequest, asked: number) => CommandAnswer,
  test: (asked: ReadonlyArray<CommandRequest>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const asked: Array<CommandRequest> = []
    const serve = Effect.flatMap(Requests, (requests) =>
      requests.answer({
        subject: subjects.commands("agent"),
        queueGroup: "actors",
        question,
        answer,
        concurrency: 1,
        handler: (request) => Effect.sync(() => answers(request, asked.push(request)))
      })
    )
    return yield* inProcess(server, configuration, Effect.andThen(serve, test(asked)))
  }).pipe(Effect.scoped)

const send = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(CommandClient, (client) => client.send("agents", ids.map(expire)))

describe("the commands of a sweep", () => {
  it.live("are sent again to a busy entity, under the same id", () =>
    withActor(
      {},
      (_, count) => (count < 3 ? { _tag: "Busy", retryAfterMs: 5 } : accepted),
      (asked) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(findingsOf(yield* send(["smith"])), { "pause-expired": 1 })
          assert.deepStrictEqual(
            asked.map(({ commandId }) => commandId),
            Array.from({ length: 3 }, () => "sweep.pause-expired.5")
          )
        })
    )
  )

  it.live("are no more at once than configured; the others wait for the next sweep, and are counted", () =>
    withActor(
      { Sweeper: { ActionsMax: 2 } },
      () => accepted,
      (asked) =>
        Effect.gen(function* () {
          yield* send(["a", "b", "c", "d", "e"])
          assert.deepStrictEqual(asked.map(({ id }) => id).toSorted(), ["a", "b"])
          const text = yield* (yield* Metrics).text
          assert.match(text, /sweeper_commands_total\{[^}]*outcome="left"\} 3/u)
          assert.match(text, /sweeper_commands_total\{[^}]*outcome="decided"\} 2/u)
        })
    )
  )

  it.live("that are refused, or name a missing entity, are no findings and stop no others", () =>
    withActor(
      {},
      ({ id }) => {
        if (id === "refuses") return { _tag: "Refused", state: "Available", reason: "not now" }
        return id === "gone" ? { _tag: "NotFound", entity: "agent", id } : accepted
      },
      () =>
        Effect.gen(function* () {
          const sent = yield* send(["refuses", "gone", "smith"])
          assert.strictEqual(sent.length, 3)
          assert.deepStrictEqual(findingsOf(sent), { "pause-expired": 1 })
        })
    )
  )

  it.live("fail with their sweep when no actor answers", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const lost = yield* inProcess(server, {}, Effect.flip(send(["smith"])))
      assert.strictEqual(lost._tag, "BusUnavailable")
    }).pipe(Effect.scoped)
  )
})
