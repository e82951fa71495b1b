import { assert, describe, it } from "@effect/vitest"
import {
  type Cures,
  cure,
  freeBytesMin,
  isWriteError,
  noCures
} from "../../../../services/fleet/nats-server/write-error.ts"

const trouble = "JetStream stream '$G > LOG' write error: write /data/1.blk: no space left on device"
const second = 1_000

describe("a server that cannot write", () => {
  it("is told by its own word for it, and by no other trouble", () => {
    assert.isTrue(isWriteError(trouble))
    for (const other of [undefined, "", "JetStream not enabled", "JetStream stream '$G > LOG' is not current"])
      assert.isFalse(isWriteError(other), other)
  })

  it.each([
    ["its disk is full", { trouble, freeBytes: 0 }],
    ["its disk has next to no room", { trouble, freeBytes: freeBytesMin - 1 }],
    ["its disk does not say", { trouble, freeBytes: undefined }],
    ["its trouble is another", { trouble: "JetStream not enabled", freeBytes: freeBytesMin }],
    ["it is well", { trouble: undefined, freeBytes: freeBytesMin }]
  ])("is not restarted while %s", (_, seen) => {
    assert.isUndefined(cure(noCures, { ...seen, nowMs: 0 }))
  })

  it("is restarted at once, then ever later up to ten minutes, and at once again when it wrote for half an hour", () => {
    let cures: Cures = noCures
    const restartedAt: Array<number> = []
    for (let nowMs = 0; nowMs <= 3_600 * second; nowMs += 2 * second) {
      const next = cure(cures, { trouble, freeBytes: freeBytesMin, nowMs })
      if (next === undefined) continue
      cures = next
      restartedAt.push(nowMs / second)
    }
    assert.deepStrictEqual(restartedAt.slice(0, 8), [0, 10, 30, 70, 150, 310, 630, 1_230])
    const { lastMs } = cures
    assert.isUndefined(cure(cures, { trouble, freeBytes: freeBytesMin, nowMs: lastMs + 599 * second }))
    const later = cure(cures, { trouble, freeBytes: freeBytesMin, nowMs: lastMs + 1_800 * second })
    assert.deepStrictEqual(later, { count: 1, lastMs: lastMs + 1_800 * second })
  })
})
