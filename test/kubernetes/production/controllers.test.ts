import { assert, describe, it } from "@effect/vitest"
import { leftOut } from "./controllers.ts"

describe("the parts of production on a cluster", () => {
  it.each([
    ["nothing, where every file is at hand", { production: [], scaling: [] }, []],
    [
      "production whole, where helm or the brokers' programs are not",
      { production: ["helm", "nack-0.34.0.tgz"], scaling: ["keda-operator"] },
      [
        "== kubernetes: left out, for there is no helm, nack-0.34.0.tgz (STARLING_CLUSTER_PARTS is /parts): the overlay prod is not tried on a cluster"
      ]
    ],
    [
      "the autoscaler alone, where only its programs are not",
      { production: [], scaling: ["keda-operator"] },
      [
        "== kubernetes: left out, for there is no keda-operator (STARLING_CLUSTER_PARTS is /parts): the overlay prod is tried without its autoscaler"
      ]
    ]
  ])("leave out %s, in one line", (_, missing, lines) => {
    assert.deepStrictEqual(leftOut(missing, "/parts"), lines)
  })
})
