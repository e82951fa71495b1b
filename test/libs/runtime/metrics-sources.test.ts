import { assert, describe, it } from "@effect/vitest"
import { InvalidConfiguration, joinFigures, labelled } from "#runtime"

describe("the figures of a process", () => {
  it.each([
    ["up 1", 'up{role="a"} 1'],
    ['up{x="1"} 1', 'up{role="a",x="1"} 1'],
    ['up{x="role="} 1 1700000000', 'up{role="a",x="role="} 1 1700000000'],
    ['up{role="b"} 1', 'up{role="b"} 1'],
    ['up{x="1",role="b"} 1', 'up{x="1",role="b"} 1'],
    ['up{other_role="b"} 1', 'up{role="a",other_role="b"} 1'],
    ["# HELP up Whether it is up 1", "# HELP up Whether it is up 1"],
    ["", ""],
    ["no sample at all here", "no sample at all here"]
  ])("have its role where they have none: %s", (line, expected) => {
    assert.strictEqual(labelled(line, "role", "a"), expected)
    assert.strictEqual(labelled(`${line}\nup 2`, "role", "a"), `${expected}\nup{role="a"} 2`)
  })

  it("are joined with those of others by their names, each described once", () => {
    const one = ["# HELP a First", "# TYPE a counter", 'a{p="1"} 1', "# HELP b Second", 'b{p="1"} 2', ""].join("\n")
    const two = ["# HELP b Other", "# TYPE b gauge", 'b{p="2"} 3', "# HELP a Other", 'a{p="2"} 4'].join("\n")
    assert.deepStrictEqual(joinFigures([one, two, ""]).split("\n"), [
      "# HELP a First",
      "# TYPE a counter",
      'a{p="1"} 1',
      'a{p="2"} 4',
      "",
      "# HELP b Second",
      'b{p="1"} 2',
      'b{p="2"} 3',
      ""
    ])
  })
})

it("a configuration that is not usable is told fault by fault, each with its place", () => {
  const faults = [
    { path: "Models[0].Name", message: "is missing" },
    { path: "", message: "there is none" }
  ]
  assert.strictEqual(
    new InvalidConfiguration({ faults }).message,
    "the configuration is not usable:\n  - Models[0].Name: is missing\n  - there is none"
  )
})
