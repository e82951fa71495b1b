import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../../dev/fixtures/eventually.ts"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"

type Json = Readonly<Record<string, unknown>>

describe("./starling find on a whole fleet", () => {
  let home: Home
  let fleet: RunningFleet
  beforeAll(async () => {
    home = newHome()
    fleet = await startFleet(home)
  })
  afterAll(async () => {
    await fleet?.stop("SIGTERM")
    home?.remove()
  })

  const listed = async (...words: ReadonlyArray<string>) => {
    const { code, out, error } = await starling(home, ...words, "--json")
    assert.strictEqual(code, 0, error)
    return out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Json)
  }
  const kindsOf = async (id: unknown) => {
    const { code, out, error } = await starling(home, "find", String(id))
    assert.deepStrictEqual([code, error], [0, error], `${String(id)}: ${error}`)
    return out.split("\n").map((line) => line.trim().split(" ")[0])
  }

  it("shows an event with its deliveries, by the id of each", async () => {
    const [published] = await listed("trigger", "work_item.merged")
    const sequence = String(published?.["sequence"])
    const [attempt] = await until(() => listed("deliveries", "list", "--event-sequence", sequence), {
      is: (found) => found.length > 0
    })
    const [event] = await listed("events", "list", "--limit", "1")
    for (const id of [sequence, attempt?.["deliveryId"], attempt?.["place"]]) {
      assert.includeMembers(await kindsOf(id), ["event", "delivery", "attempt"])
    }
    assert.include(await kindsOf(event?.["entity"]), "event")
    assert.includeMembers(await kindsOf("demo"), ["endpoint", "attempt"])
    assert.deepStrictEqual(await starling(home, "--names", "endpoint"), { code: 0, out: "demo\n", error: "" })
  })

  it("shows a payment with its payer, claim and transaction, by the id of each", async () => {
    const paid = await starling(home, "pay", "one two", "--model", "demo/echo")
    assert.strictEqual(paid.code, 0, paid.error)
    const [receipt] = await until(() => listed("receipts", "list"), { is: (found) => found.length > 0 })
    for (const field of ["payer", "claimKey", "transaction"]) {
      assert.includeMembers(await kindsOf(receipt?.[field]), ["payer", "claim", "receipt", "transaction"], field)
    }
  })

  it("says in a sentence that nothing is kept under an id, and what is not kept of it, and ends with 1", async () => {
    const { code, out, error } = await starling(home, "find", "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2aff")
    assert.deepStrictEqual([code, out], [1, ""])
    assert.match(error, /^starling: nothing is kept under this id as a delivery, a work item/u)
    assert.include(error, "Of speech nothing is kept by session")
  })
})
