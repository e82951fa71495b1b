import { describe, expect, it } from "vitest"
import { processesOf } from "../../../../page/screens/fleet/processes.ts"

const role = (name: string, at: string, state: "up" | "not ready" | "down" = "up") => ({
  role: name,
  at,
  state,
  why: "",
  version: null,
  consumedPerSecond: null,
  publishedPerSecond: null,
  residentMb: null,
  cores: null,
  loopLagMs: null
})

describe("the processes of a fleet", () => {
  it("are a row each, with all roles inside", () => {
    const rows = processesOf([role("sweeper", "a"), role("console", "b"), role("speech-api", "a")])
    expect(rows.map(({ at, roles }) => [at, roles.map((each) => each.role)])).toEqual([
      ["a", ["sweeper", "speech-api"]],
      ["b", ["console"]]
    ])
  })

  it("have the gravest state of their roles, and those that need attention come first", () => {
    const rows = processesOf([
      role("console", "a"),
      role("sweeper", "b"),
      role("speech-api", "b", "not ready"),
      role("?", "c", "down")
    ])
    expect(rows.map(({ at, state }) => [at, state])).toEqual([
      ["c", "down"],
      ["b", "not ready"],
      ["a", "up"]
    ])
  })
})
