/** A wait that comes from outside the actors: never longer than a year. */
import { Schema } from "effect"
import { Count } from "../primitives.ts"

export const waitMsMax = 366 * 24 * 60 * 60 * 1_000
export const WaitMs = Count.check(Schema.isLessThanOrEqualTo(waitMsMax))
