import { describe, expect, it } from "vitest"
import { soughtAs } from "../../../../services/console/find/kinds.ts"
import { hex32 } from "../../../support/payments.ts"

const forms: ReadonlyArray<readonly [id: string, kinds: ReadonlyArray<string>]> = [
  ["17", ["sequence"]],
  ["17.3", ["delivery"]],
  ["6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01", ["delivery", "entity", "request", "speech"]],
  ["req_6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01", ["request"]],
  ["claim.ZWlw.VVNE.MHg.MHg", ["claim"]],
  ["workItem:6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01", ["entity"]],
  ["release:2026.11", ["entity"]],
  [hex32("a").slice(0, 42), ["payer", "endpoint", "entity", "request"]],
  [hex32("a"), ["transaction", "endpoint", "entity", "request"]],
  [hex32("a").slice(2, 34), ["finding", "endpoint", "entity", "request"]],
  ["4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", ["payer", "endpoint", "entity", "request"]],
  ["5".repeat(88), ["transaction", "endpoint", "entity", "request"]],
  ["demo", ["endpoint", "entity", "request"]],
  ["0xnothex", ["endpoint", "entity", "request"]],
  ["1234567890123456", ["endpoint", "entity", "request"]]
]

describe("what an id can be", () => {
  it.each(forms)("of %s is %j", (id, kinds) => {
    expect(soughtAs(id)).toEqual(kinds)
  })
})
