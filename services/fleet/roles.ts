/** The roles that exist, by name. A new role is one line here and one name in the configuration's list. */
import type { RoleName } from "#contracts"
import { speechApi } from "../speech-api/layer.ts"
import { speechSequencer } from "../speech-sequencer/layer.ts"
import { speechSynthesizer } from "../speech-synthesizer/layer.ts"
import { checkWebhookDispatcher, webhookDispatcher } from "../webhook-dispatcher/layer.ts"

export const roles = {
  "webhook-dispatcher": webhookDispatcher,
  "speech-api": speechApi,
  "speech-sequencer": speechSequencer,
  "speech-synthesizer": speechSynthesizer
} as const satisfies Record<RoleName, unknown>

/** What a role can find wrong with its configuration by itself; run before its bus is opened. */
export const checks = { "webhook-dispatcher": checkWebhookDispatcher } as const
