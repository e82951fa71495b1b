/** Every key-value bucket and object store of the fleet, as data. Keys are texts encoded as tokens. */
import type { BucketDeclaration, ObjectStoreDeclaration } from "./declarations.ts"

const dayMs = 86_400_000
const kib = 1_024
const mib = 1_024 * kib

export const buckets: ReadonlyArray<BucketDeclaration> = [
  {
    name: "tokens",
    why: "Bearer tokens of our own APIs, by their hash: label, workspace, role, scopes, when they end or ended.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    leaderReads: true,
    // The console creates and revokes them for owners, and first records in AUDIT who asked for it.
    writers: ["console", "operator"],
    readers: ["pipeline-api", "model-gateway", "speech-api", "console", "operator"]
  },
  {
    name: "token-uses",
    why: "When each token was last used, by its id, written once an hour. Apart from the tokens, so that a role which writes it can make none.",
    // A token not used for this long is as good as unused.
    ttlMs: 400 * dayMs,
    keyTtl: false,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["pipeline-api", "speech-api", "console"],
    readers: ["pipeline-api", "speech-api", "console", "operator"]
  },
  {
    name: "sign-in-codes",
    why: "One-time codes by which a browser signs in to the console's page, by their hash, with the rights that they give.",
    ttlMs: 600_000,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    // Of two callers with the same code only one gets in.
    leaderReads: true,
    writers: ["console"],
    readers: ["console"]
  },
  {
    name: "endpoints",
    why: "What is true of a webhook endpoint beyond the configuration: paused by whom and why, breaker, absent since when.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 8 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["webhook-dispatcher", "console", "operator"],
    readers: ["webhook-dispatcher", "console", "operator"]
  },
  {
    name: "event-types",
    why: "Event types declared at run time: owners, schema, example, and what held before the last changes. A role judges each event by what held when it was stored.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 400 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["console", "operator"],
    readers: ["webhook-dispatcher", "pipeline-api", "console", "operator"]
  },
  {
    name: "webhook-endpoints",
    why: "Webhook endpoints made at run time: settings, secrets, certificates, and the event after which each begins. A removed one stays until its deliveries are put away.",
    ttlMs: null,
    // A removed endpoint's marker expires after a while.
    keyTtl: true,
    valueBytesMax: 128 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["webhook-dispatcher", "console", "operator"],
    readers: ["webhook-dispatcher", "console", "operator"]
  },
  {
    name: "webhook-dispatchers",
    why: "Which dispatchers live, and the last change of endpoints that each acts on; one that stops renewing is gone by the broker's clock.",
    ttlMs: null,
    keyTtl: true,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["webhook-dispatcher"],
    readers: ["webhook-dispatcher", "console", "operator"]
  },
  {
    name: "webhook-gaps",
    why: "Of each key of an ordered endpoint, the last event that was given up, until its receiver has been told.",
    // As long as the delivery itself is kept in ABANDONED.
    ttlMs: 30 * dayMs,
    keyTtl: true,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["webhook-dispatcher"],
    readers: ["webhook-dispatcher", "operator"]
  },
  {
    name: "webhook-tokens",
    why: "Access tokens for receivers that ask for OAuth, sealed, by endpoint; while one is got, by whom. Dispatchers share them, and get new ones when they are lost.",
    ttlMs: dayMs,
    keyTtl: true,
    // The longest token, sealed.
    valueBytesMax: 32 * kib,
    leaderReads: true,
    writers: ["webhook-dispatcher"],
    readers: ["webhook-dispatcher"]
  },
  {
    name: "views",
    why: "What lists and watchdogs go by: one row per entity, made from its last record in LOG; made again from the log's beginning when empty.",
    ttlMs: null,
    keyTtl: true,
    valueBytesMax: 16 * kib,
    leaderReads: false,
    isFollowed: true,
    writers: ["pipeline-api"],
    readers: ["pipeline-api", "sweeper", "operator"]
  },
  {
    name: "answers",
    why: "What operators answered, as they wrote it, until the item's runner has taken it; then it is gone. LOG and events only have it without secrets.",
    ttlMs: 7 * dayMs,
    keyTtl: true,
    // The longest answer, each character escaped.
    valueBytesMax: 64 * kib,
    // A write must be sure that no other has the key.
    leaderReads: true,
    writers: ["pipeline-api"],
    readers: ["pipeline-api"]
  },
  {
    name: "spend",
    why: "What each project spent, in whole micro-USD by the hour of the last thirty days, and up to which record of LOG that is counted; made again from LOG when empty.",
    ttlMs: null,
    keyTtl: false,
    // 721 hours of 16 digits, and their names.
    valueBytesMax: 64 * kib,
    leaderReads: true,
    writers: ["sweeper"],
    readers: ["sweeper", "pipeline-api", "operator"]
  },
  {
    name: "forecasts",
    why: "The last forecast of each agent's quota, so that the best time to spend is told when it comes.",
    ttlMs: 35 * dayMs,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    leaderReads: true,
    writers: ["pipeline-api"],
    readers: ["pipeline-api", "sweeper", "operator"]
  },
  {
    name: "sweeps",
    why: "How far sweeps that go over days are: through LOG and EVENTS, and through the items of an agent that is back. Without it they begin again, and do no harm.",
    ttlMs: null,
    keyTtl: false,
    // The ids of ten thousand items.
    valueBytesMax: 512 * kib,
    leaderReads: true,
    writers: ["sweeper"],
    readers: ["sweeper", "operator"]
  },
  {
    name: "cursors",
    why: "How far the log has been followed up for other entities; what came after is followed up again.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["pipeline-api"],
    readers: ["pipeline-api", "sweeper", "operator"]
  },
  {
    name: "relays",
    why: "How far LOG has become events, and the last events with it until they are known to be stored. Apart from the events, so that a service which publishes those cannot move it.",
    ttlMs: null,
    keyTtl: false,
    // The largest envelope in base64, and its headers.
    valueBytesMax: 384 * kib,
    leaderReads: true,
    writers: ["pipeline-api"],
    readers: ["pipeline-api", "sweeper", "operator"]
  },
  {
    name: "leases",
    why: "Who does what only one may do; a holder that stops renewing loses its lease by the broker's clock.",
    ttlMs: null,
    keyTtl: true,
    valueBytesMax: kib,
    leaderReads: true,
    writers: ["pipeline-api", "sweeper", "webhook-dispatcher", "payment-settler", "console"],
    readers: ["pipeline-api", "sweeper", "webhook-dispatcher", "payment-settler", "console", "operator"],
    keepers: ["pipeline-api", "sweeper", "webhook-dispatcher", "payment-settler", "console"]
  },
  {
    name: "idempotency",
    why: "Answers to requests with an idempotency key, by its hash, for a day; while the first is in work, a claim that its holder renews.",
    ttlMs: dayMs,
    keyTtl: true,
    // An answer of 64 KiB in base64, and its headers.
    valueBytesMax: 96 * kib,
    leaderReads: true,
    writers: ["speech-api", "model-gateway", "pipeline-api", "console"],
    readers: ["speech-api", "model-gateway", "pipeline-api", "console"]
  },
  {
    name: "rate-windows",
    why: "When the calls of the running window were made, by window and caller: limits that hold over all replicas.",
    ttlMs: dayMs,
    keyTtl: true,
    // 300 times of 14 digits each.
    valueBytesMax: 8 * kib,
    leaderReads: true,
    writers: ["speech-api", "model-gateway", "pipeline-api"],
    readers: ["speech-api", "model-gateway", "pipeline-api"]
  },
  {
    name: "authorizations",
    why: "Which payment is claimed for which call and how far it is, and what a payer owes. Never deleted to free one; the ended go a day after they could be used.",
    ttlMs: null,
    keyTtl: true,
    // A payer's record with 512 places of some 300 bytes.
    valueBytesMax: 256 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["model-gateway", "payment-verifier", "payment-settler", "operator"],
    readers: ["model-gateway", "payment-verifier", "payment-settler", "console", "operator"]
  },
  {
    name: "channels",
    why: "Payment channels: what was charged of each, the voucher that covers it, what the chain has of it, the call in work, and the last answer where it is short. One record per decision, of which the last counts; never removed, for it is worth the money that is not claimed.",
    ttlMs: null,
    keyTtl: false,
    // Two vouchers with signatures of contract wallets, 4 KiB each in hex, 32 charges that wait for their receipts, and a
    // short answer, 8 KiB in base64.
    valueBytesMax: 48 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["model-gateway", "payment-settler"],
    readers: ["model-gateway", "payment-settler", "console", "operator"]
  },
  {
    name: "channel-watches",
    why: "Up to which block, and when, the settlers have seen what payers did with their channels; a gateway takes vouchers only while that is recent.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["payment-settler"],
    readers: ["model-gateway", "payment-settler", "console", "operator"]
  },
  {
    name: "payment-books",
    why: "What the reconciliation found between chain, claims and receipts, how each finding ended, and how far it is. One that stands is kept; an ended one goes after thirty days.",
    ttlMs: null,
    keyTtl: true,
    // Eight receipts of a kilobyte each.
    valueBytesMax: 16 * kib,
    leaderReads: true,
    writers: ["payment-settler"],
    readers: ["payment-settler", "console", "operator"]
  },
  {
    name: "payment-refunds",
    why: "What operators had given back of each payment, and how far each refund is. Written before anything is signed; one that has not ended is kept, the others go after 400 days, later than their payment's receipt.",
    ttlMs: null,
    keyTtl: true,
    // Sixteen refunds of a kilobyte and a half each, beside a receipt.
    valueBytesMax: 32 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["payment-settler"],
    readers: ["payment-settler", "console", "operator"]
  },
  {
    name: "model-uptime",
    why: "How the calls of each model ended, all and by provider: by the quarter of an hour for a day, by the hour for thirty. Gone when nobody called the model for that long.",
    ttlMs: null,
    keyTtl: true,
    // Thirteen times 821 spans, each with five numbers of up to seven digits.
    valueBytesMax: 512 * kib,
    leaderReads: true,
    writers: ["model-gateway"],
    readers: ["model-gateway", "console", "operator"]
  },
  {
    name: "image-jobs",
    why: "Images being made or made: by whom to fetch them, for a day; an answer that was paid for and lost is found again.",
    ttlMs: dayMs,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    leaderReads: true,
    writers: ["model-gateway"],
    readers: ["model-gateway"]
  },
  {
    name: "voices",
    why: "Cloned voices by workspace: being made, ready to speak, or leaving. One that is not ready is swept when its maker is gone.",
    ttlMs: null,
    // A removed voice's marker expires after a while.
    keyTtl: true,
    valueBytesMax: 32 * kib,
    leaderReads: true,
    writers: ["speech-api"],
    readers: ["speech-api", "operator"]
  },
  {
    name: "lexicons",
    why: "How words are spoken in each workspace, as it was sent: lexicons in PLS or as plain lists.",
    ttlMs: null,
    // A removed lexicon's marker expires after a while.
    keyTtl: true,
    // 100,000 characters of three bytes each, or escaped, and the fields around them.
    valueBytesMax: 320 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["speech-api"],
    readers: ["speech-api", "operator"]
  },
  {
    name: "speech-jobs",
    why: "Books that are spoken or were: which chapters they have, how far each is, and how they ended; a week after the last change they are forgotten.",
    ttlMs: 7 * dayMs,
    keyTtl: false,
    // 500 chapters with titles of 200 characters.
    valueBytesMax: 512 * kib,
    leaderReads: true,
    writers: ["speech-api"],
    readers: ["speech-api", "operator"]
  },
  {
    name: "conditions",
    why: "What was wrong with the fleet, and since when, so that the next console knows it; a month after it ended it is forgotten.",
    ttlMs: 31 * dayMs,
    keyTtl: false,
    // A sentence of the table with its labels.
    valueBytesMax: 8 * kib,
    leaderReads: true,
    writers: ["console"],
    readers: ["console", "operator"]
  },
  {
    name: "history",
    why: "How often each thing of the fleet was used, how well and how fast, and what happened to the fleet: keys for the minutes of a day, the hours of thirty days and what happened in them, written over when their turn comes again.",
    // The keys are a ring: what is older belongs to a fleet without a console.
    ttlMs: 31 * dayMs,
    keyTtl: false,
    // 500 things, each with a name of up to 100 characters and four numbers.
    valueBytesMax: 256 * kib,
    leaderReads: true,
    writers: ["console"],
    readers: ["console", "operator"]
  },
  {
    name: "speech-figures",
    why: "What each process that serves speech tells operators: its voices, its sessions, and how soon they are heard; one that stops telling is gone by the broker's clock.",
    ttlMs: null,
    keyTtl: true,
    // Some forty voices of 200 bytes.
    valueBytesMax: 32 * kib,
    leaderReads: true,
    writers: ["speech-api"],
    readers: ["speech-api", "console", "operator"]
  },
  {
    name: "speech-engines",
    why: "Which engines of each synthesizer can speak, and why others cannot; one that stops telling is gone by the broker's clock.",
    ttlMs: null,
    keyTtl: true,
    // Up to 64 engines, each with a reason of 600 characters.
    valueBytesMax: 64 * kib,
    leaderReads: true,
    isFollowed: true,
    writers: ["speech-synthesizer"],
    readers: ["speech-synthesizer", "speech-api", "operator"]
  },
  {
    name: "consents",
    why: "Who agreed to have a voice cloned, how that was verified, and where the recording is. Kept when the voice is deleted.",
    ttlMs: null,
    keyTtl: false,
    valueBytesMax: 16 * kib,
    leaderReads: true,
    writers: ["speech-api"],
    readers: ["speech-api", "operator"]
  },
  {
    name: "consent-challenges",
    why: "Phrases given out to be read, each for one use; a while longer than they may be read, so that a late one hears why.",
    ttlMs: 2 * dayMs,
    keyTtl: false,
    valueBytesMax: 4 * kib,
    leaderReads: true,
    writers: ["speech-api"],
    readers: ["speech-api"]
  }
]

/** Bytes too large for a message. */
export const objectStores: ReadonlyArray<ObjectStoreDeclaration> = [
  {
    name: "image-answers",
    why: "The pictures of image jobs, for a day.",
    ttlMs: dayMs,
    bytesMax: 4_096 * mib,
    writers: ["model-gateway"],
    readers: ["model-gateway"]
  },
  {
    name: "paid-answers",
    why: "Answers that are given out once they are paid for, and again to whom has paid. Gone a day after nobody can pay for them any more.",
    ttlMs: 2 * dayMs,
    bytesMax: null,
    writers: ["model-gateway"],
    readers: ["model-gateway"]
  },
  {
    name: "voice-samples",
    why: "What a cloned voice was made from, and its picture; gone with the voice.",
    ttlMs: null,
    bytesMax: null,
    writers: ["speech-api"],
    readers: ["speech-api", "speech-synthesizer"]
  },
  {
    name: "speech-job-files",
    why: "The text of each book, what is spoken of the chapter in work, and the files of the finished chapters; gone with the job, a day after it at the latest.",
    ttlMs: 8 * dayMs,
    // The sound of a chapter until it is encoded, 170 MB an hour, and 30 MB for each hour of files.
    bytesMax: 8_192 * mib,
    writers: ["speech-api"],
    readers: ["speech-api"]
  },
  {
    name: "consent-recordings",
    why: "The recordings in which speakers agreed. Kept when the voice is deleted.",
    ttlMs: null,
    bytesMax: null,
    writers: ["speech-api"],
    readers: ["operator"]
  }
]
