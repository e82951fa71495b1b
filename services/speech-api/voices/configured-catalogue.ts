/** The voices that every caller can use, as configured. */
import { Effect } from "effect"
import { fleetCatalogue } from "#speech"
import { Configuration } from "#configuration"

export const configuredCatalogue = Effect.flatMap(Configuration, ({ Voices }) => fleetCatalogue(Voices))
