/** All three jobs at once, as a fleet has them: events, paid calls and speech. */
import type { LoadedFleet } from "./fleet.ts"
import { type EventLoad, startEventLoad } from "./load-events.ts"
import { type PaymentLoad, startPaymentLoad } from "./load-payments.ts"
import type { ProcessorShare } from "../support/processor-share.ts"
import { type SpeechLoad, startSpeechLoad } from "./load-speech.ts"

export interface Work {
  readonly events: EventLoad
  readonly payments: PaymentLoad
  readonly speech: SpeechLoad
  /** Begins nothing more, and waits until everything that was begun has ended. */
  readonly stop: () => Promise<void>
}

export const startWork = async (fleet: LoadedFleet, share: ProcessorShare): Promise<Work> => {
  const events = await startEventLoad(fleet)
  const payments = startPaymentLoad(fleet)
  const speech = startSpeechLoad(fleet, share)
  return {
    events,
    payments,
    speech,
    stop: async () => void (await Promise.all([events.stop(), payments.stop(), speech.stop()]))
  }
}
