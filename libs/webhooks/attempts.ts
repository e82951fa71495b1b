/** The lines of the delivery log as ATTEMPTS has them: in batches of one endpoint and one outcome. */
import { jsonCodec } from "#bus"
import { AttemptBatch } from "#contracts"

export const attemptBatchCodec = jsonCodec(AttemptBatch)
