import { assert, describe, it } from "@effect/vitest"
import { configsOf, reservedBytes, topology } from "#bus"
import { fileStoreMax } from "../../../../services/fleet/nats-server/configuration.ts"

const gib = 1_024 ** 3

describe("the file storage of an embedded broker", () => {
  it("is three quarters of a large disk", () => {
    assert.strictEqual(fileStoreMax(400 * gib), 300 * gib)
  })

  it("has room for all that the streams reserve, however little of the disk is free", () => {
    const reserved = reservedBytes(configsOf(topology, 1), "file")
    for (const free of [undefined, 0, 2 * gib, 18 * gib]) assert.isAbove(fileStoreMax(free), reserved)
  })
})
