/** Conditions that no fault here makes true, and why. Each has cases of its rule in test/deploy. */
export const unplayed: Readonly<Record<string, string>> = {
  StarlingHandlersDying: "A handler dies of a bug, and none is known that a message could set off.",
  StarlingStreamCopiesBehind: "Copies are of a cluster of three servers, and `up` has one.",
  StarlingStoreFilling:
    "The broker's limit lies eight gibibytes above all that its streams reserve: too much to write.",
  WebhookEndpointLate: "A delivery has to be due for five minutes.",
  PaymentBooksUnread: "Nobody may have compared chain and receipts for an hour.",
  PaymentSettlementsSlow: "Not played yet: a chain has to make no blocks for a minute and a half.",
  PaymentChannelsUnwatched: "Nobody may have looked at the chain for five minutes.",
  PaymentSettlementsUncollected: "A payment is given up when its authorization has ended, minutes after it was served.",
  PaymentChannelsDiffer:
    "It takes a bug, or a backup of one bucket without the other; test/services/payment-settler plants that.",
  WebhookBacklogGrowing:
    "Not played yet: more than fifty thousand deliveries have to wait; load scale makes that many.",
  GatewayModelSoldAtLoss: "Not played yet: a call has to be paid for; a price below cost is played.",
  PaymentNewcomersRefused: "Not played yet: many payers have to owe at the same time; the tests of claims have them.",
  SpeechStreamsFailing: "A text fails after a quarter of a minute of silence: SpeechSilent is seen before it.",
  SpeechTakeovers:
    "Not played yet: dozens of sessions have to lose their sequencer within a minute; load speech kills does that.",
  PaymentFacilitatorUnconfirmed:
    "Not played yet: it takes a whole facilitator that lies; test/fleet/facilitator-orders has one.",
  PipelineAgentBenched: "Not played yet: a runner has to fail again and again within seconds.",
  PipelineViewsBehind:
    "A projector that stands still for a thousand records hangs, and so does its process: StarlingPodDown.",
  PipelineViewsFull: "It takes a quarter of a million unfinished items.",
  SpeechEngineThreadsDying: "A thread dies of a text that crashes its engine, and none is known.",
  SpeechUnderruns: "Listeners are admitted only where they will hear no gap; load speech overload tries that.",
  SpeechConsentsUnverifiable:
    "The recogniser is missing from the start or not at all; test/fleet/voices-consent starts without it."
}
