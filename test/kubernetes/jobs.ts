/** The tests of the three jobs, of any overlay: each tried once, from outside of the fleet. */
import { assert, it } from "@effect/vitest"
import { everyEvent } from "../containers/world-places.ts"
import { type ClusterFleet, deliverOne } from "./fleet.ts"

interface Sale {
  readonly answer: string
  /** By the payee, in the smallest unit. */
  readonly taken: string
}

/** An answer that an errand read. */
export interface Read {
  readonly status: number
  readonly text: string
}

/** Of a fleet that an earlier test brings up, with a token that may speak. */
export const doesItsJobs = (of: () => { readonly fleet: ClusterFleet; readonly token: string }) => {
  it("delivers a published event to an outside receiver, with a verifiable signature", async () => {
    const { isOurs, signature } = await deliverOne(of().fleet, "sandbox.leak_detected", everyEvent)

    assert.isTrue(isOurs, signature)
  })

  it("sells an answer through the service to a payer on an EVM chain", async () => {
    const { answer, taken } = await of().fleet.send<Sale>("payOnEvm", { text: "The apples are ripe" })

    assert.include(answer, "The apples are ripe")
    assert.isTrue(BigInt(taken) > 0n)
  })

  it("sells an answer through the service to a payer on Solana", async () => {
    const { answer, taken } = await of().fleet.send<Sale>("payOnSolana", { text: "The pears are ripe" })

    assert.include(answer, "The pears are ripe")
    assert.isTrue(BigInt(taken) > 0n)
  })

  it("speaks a text through the service, every word with its mark", async () => {
    const { fleet, token } = of()
    const heard = await fleet.send("speak", { token, text: "The harbour wakes before the town does." })

    assert.deepStrictEqual(heard, { started: true, cut: false, faults: [] })
  })
}
