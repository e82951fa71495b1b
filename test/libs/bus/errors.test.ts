import { assert, describe, it } from "@effect/vitest"
import { PermissionViolationError } from "@nats-io/transport-node"
import { isTooLarge } from "#bus"
import { toBusError } from "../../../libs/bus/errors.ts"

const named = (name: string, message: string, more: object = {}) => Object.assign(new Error(message), { name }, more)
const violation = new PermissionViolationError("no right", "publish", "log.a")

describe("an error of the client library", () => {
  it.each([
    ["a message that is not there", named("JetStreamStatusError", "no message", { code: 404 }), "BusNotFound"],
    ["another status", named("JetStreamStatusError", "busy", { code: 409 }), "BusUnavailable"],
    ["a wrong argument", named("InvalidArgumentError", "no subject"), "BusRefused"],
    ["a missing right", violation, "BusRefused"],
    ["a request without a right", named("RequestError", "no right", { cause: violation }), "BusRefused"],
    ["a lost connection", named("ConnectionError", "closed"), "BusUnavailable"],
    ["something thrown that is no error", "closed", "BusUnavailable"]
  ])("says what to do about it: %s", (_, cause, tag) => {
    assert.strictEqual(toBusError("work", "sweeper")(cause)._tag, tag)
  })

  it("says which right is missing, and whose", () => {
    for (const cause of [violation, named("RequestError", "no right", { cause: violation })]) {
      assert.deepInclude(toBusError("work", "sweeper")(cause), {
        forbidden: { user: "sweeper", operation: "publish", subject: "log.a" }
      })
    }
  })

  it("says of a message that is too large that it is, and of no other", () => {
    const tooLarge = toBusError("publish")(named("InvalidArgumentError", "'payload' max_payload size exceeded"))
    const wrong = toBusError("publish")(named("InvalidArgumentError", "no subject"))
    assert.deepStrictEqual([isTooLarge(tooLarge), isTooLarge(wrong)], [true, false])
    assert.deepInclude(wrong, { code: 0 })
  })
})
