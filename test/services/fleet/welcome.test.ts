import { assert, describe, it } from "@effect/vitest"
import { type ReadyReport, roleNames } from "#base"
import { welcome } from "../../../services/fleet/welcome.ts"

const bare: ReadyReport = {
  metrics: "http://127.0.0.1:1",
  nats: "nats://127.0.0.1:2",
  natsCredentials: { user: "internal-services", pass: "secret" },
  token: "stl_x"
}
const evm = {
  rpc: "http://127.0.0.1:3",
  chainId: 84_532,
  asset: "0x1",
  payer: { address: "0x2", privateKey: "0x3" }
}
const whole: ReadyReport = {
  ...bare,
  pipeline: "http://127.0.0.1:4",
  gateway: "http://127.0.0.1:5",
  speech: "http://127.0.0.1:6",
  console: "http://127.0.0.1:7",
  chains: { evm }
} as ReadyReport
const model = (Id: string, changes: object = {}) => ({ Id, Kind: "chat", Free: false, ...changes })
const page = "http://127.0.0.1:7/#code=x"
const every = { page, roles: roleNames, models: [model("acme/small")] }

describe("what up prints once it runs", () => {
  it.each([
    [
      "of the local world",
      [model("demo/echo"), model("demo/free", { Free: true })],
      "(demo/echo, demo/free)",
      "demo/echo"
    ],
    [
      "of a configuration",
      [model("acme/free", { Free: true }), model("acme/big")],
      "(acme/free, acme/big)",
      "acme/big"
    ],
    ["beyond three", ["a", "b", "c", "d", "e"].map((id) => model(id)), "(a, b, c, and 2 more)", "a"],
    ["that are all free", [model("acme/free", { Free: true })], "(acme/free)", undefined],
    ["that answer no chat", [model("acme/pixel", { Kind: "image" })], "(acme/pixel)", undefined],
    ["of which there are none", [], "(none is configured)", undefined]
  ] as const)("names the models %s, and pays for one that is sold", (_, models, named, paid) => {
    const said = welcome(whole, { ...every, models })
    assert.include(said, named)
    if (paid === undefined) assert.notInclude(said, "starling pay")
    else assert.include(said, `./starling pay "Hello there" --model ${paid}\n`)
    for (const demo of ["demo/echo", "demo/free"]) {
      if (!models.some(({ Id }) => Id === demo)) assert.notInclude(said, demo)
    }
  })

  it("offers nothing to try of a part that does not run here", () => {
    assert.notInclude(welcome(bare, { page: undefined, roles: [], models: [] }), "./starling")
    const apart = { ...every, roles: roleNames.filter((role) => role !== "webhook-dispatcher") }
    assert.notMatch(welcome(whole, apart), /starling (?:publish|tail)/u)
    assert.notInclude(welcome({ ...whole, chains: undefined } as unknown as ReadyReport, every), "starling pay")
  })

  it("sends nobody to a page that is off", () => {
    assert.include(welcome(whole, every), "signs a browser in")
    assert.notInclude(welcome(whole, { ...every, page: undefined }), "signs a browser in")
  })
})
