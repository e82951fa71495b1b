/** The fleet over HTTP. */
import { Effect, Stream } from "effect"
import { FleetGroup } from "#contracts/console"
import { Admission, Caller, eventsAnswer, jsonAnswer, jsonEvent, routesOf } from "#http"
import { FleetWatch } from "../FleetWatch.ts"
import { whileSignedIn } from "./while-signed-in.ts"
import { apiOptions } from "./requests.ts"

export const fleetRoutes = routesOf(
  FleetGroup,
  {
    getFleet: () => Effect.flatMap(FleetWatch, ({ frame }) => Effect.map(frame, (shown) => jsonAnswer(shown))),

    streamFleet: () =>
      Effect.gen(function* () {
        yield* (yield* Admission).enter((yield* Caller).workspace)
        const { frames } = yield* FleetWatch
        return yield* eventsAnswer(whileSignedIn(Stream.map(frames, (frame) => jsonEvent(frame))))
      })
  },
  apiOptions
)
