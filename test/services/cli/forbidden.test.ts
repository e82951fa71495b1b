import { assert, describe, it } from "@effect/vitest"
import type { Forbidden } from "#bus"
import { forbiddenText, mayDo } from "../../../services/cli/connection.ts"

const publish = (subject: string, user?: string): Forbidden => ({ user, operation: "publish", subject })

const texts: ReadonlyArray<readonly [Forbidden, string]> = [
  [
    publish("$KV.tokens.3f8a", "pipeline-api"),
    "the broker's user pipeline-api may not write the bucket tokens ($KV.tokens.3f8a); console, operator may"
  ],
  [
    publish("$JS.API.STREAM.MSG.GET.KV_tokens", "sweeper"),
    "the broker's user sweeper may not read the bucket tokens ($JS.API.STREAM.MSG.GET.KV_tokens); pipeline-api, model-gateway, speech-api, console, operator may"
  ],
  [
    publish("$JS.API.STREAM.MSG.GET.ABANDONED", "pipeline-api"),
    "the broker's user pipeline-api may not read the stream ABANDONED ($JS.API.STREAM.MSG.GET.ABANDONED); webhook-dispatcher, console, operator may"
  ],
  [
    publish("events.work_item.merged", "operator"),
    "the broker's user operator may not publish the event work_item.merged (events.work_item.merged); pipeline-api, console may"
  ],
  [
    publish("audit.token-revoke", "pipeline-api"),
    "the broker's user pipeline-api may not write token-revoke in AUDIT (audit.token-revoke); console, operator may"
  ],
  [
    publish("audit.endpoint-remove", "operator"),
    "the broker's user operator may not write endpoint-remove in AUDIT (audit.endpoint-remove); console may"
  ],
  [
    publish("$JS.API.STREAM.DELETE.LOG", "operator"),
    "the broker's user operator may not make, change or copy the stream LOG ($JS.API.STREAM.DELETE.LOG); no other user of the fleet may either"
  ],
  [
    publish("$JS.API.STREAM.PURGE.OBJ_paid-answers"),
    "whoever names no user to the broker may not remove messages from the object store paid-answers ($JS.API.STREAM.PURGE.OBJ_paid-answers); model-gateway may"
  ],
  [
    { user: "operator", operation: "subscription", subject: "_INBOX_sweeper.>" },
    "the broker's user operator may not hear _INBOX_sweeper.>; sweeper may"
  ],
  [
    publish("nobody.declared.this", "operator"),
    "the broker's user operator may not publish to nobody.declared.this; no other user of the fleet may either"
  ]
]

describe("a command that the broker forbids", () => {
  it.each(texts)("names the user, the object and the users with the permission: %j", (forbidden, text) => {
    assert.strictEqual(forbiddenText(forbidden), text)
  })

  it("knows a user's denials: an internal service publishes only its own events", () => {
    assert.include(mayDo(publish("events.sandbox.leak_detected")), "internal-services")
    assert.notInclude(mayDo(publish("events.work_item.merged")), "internal-services")
  })
})
