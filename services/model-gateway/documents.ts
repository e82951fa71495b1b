/**
 * The description of the gateway's API: its OpenAPI document with request and response headers, and its reference as a
 * page. Pure.
 */
import { costlyParameters } from "#gateway/contract"
import { refusalsOf } from "#base/http"
import { gatewayErrorCodes, GatewayHttpApi } from "#gateway/api"
import { answerHeader, apiDocuments, type ApiParts, requestHeader, requestIdHeader, table } from "#http"
import { chatKeys, openAiReadKeys } from "./conversation/write-chat.ts"
import { anthropicReadKeys, messagesKeys } from "./conversation/write-messages.ts"
import { embeddingKeys, imageKeys } from "./translate/provider-keys.ts"

export { compatibilityPage } from "./compatibility.ts"
export { modelGatewayMetrics, paymentMetrics } from "./metrics.ts"

export const gatewayDocuments = apiDocuments(() => ({
  api: GatewayHttpApi,
  parts: gatewayParts,
  product: "gateway",
  files: { openApi: "model-gateway-openapi.json", page: "model-gateway.md" },
  servedBy: "gateway",
  title: "The model gateway",
  introduction: [
    "Every path also stands below `/api`, and below `/solana/api`, where quotes are for Solana. The examples take the " +
      "address from `$GATEWAY`."
  ],
  chapters,
  errors,
  errorCodes: gatewayErrorCodes,
  address: "$GATEWAY"
}))

/** Headers that callers may send. */
const requestHeaders = {
  ...requestHeader(
    "PAYMENT-SIGNATURE",
    "The payment that was signed for the quote: JSON of x402, version 2, in base64. `X-PAYMENT` is the same."
  ),
  ...requestHeader("anthropic-beta", "Goes on to a provider that speaks Anthropic's API."),
  ...requestIdHeader
}

const answerHeaders = {
  "X-Request-Id": answerHeader("The id of the request, for questions about it; also in `Request-Id`.", true),
  "X-Error-Code": answerHeader("The refusal's code. A quote and an unknown model have none.", false),
  "Retry-After": answerHeader("Seconds to wait before the next try.", false, { type: "integer", minimum: 1 }),
  "X-Should-Retry": answerHeader(
    "`false`: send the very same request and payment again, and never a fresh payment.",
    false
  ),
  "PAYMENT-REQUIRED": answerHeader(
    "The quote: JSON of x402, version 2, in base64; also in `X-Payment-Required`.",
    true
  ),
  "WWW-Authenticate": answerHeader('The quote once more, as `X402 requirements="…"`.', true),
  "PAYMENT-RESPONSE": answerHeader("The receipt of a paid answer, in base64; also in `X-PAYMENT-RESPONSE`.", false),
  "X-Payment-Receipt": answerHeader("The transaction that paid for the answer.", false),
  "X-Payment-Settled": answerHeader("`false`: the chain has not confirmed the payment yet.", false),
  "X-Token-Count": answerHeader("`provider`: the model's provider has counted; `estimate`: as a quote does.", true),
  "X-Starling-Left-Out": answerHeader(
    "The keys of the request that the model's provider was not given, with a comma between them.",
    false
  ),
  "X-Free-Model": answerHeader("`true`: the answer costs nothing.", false),
  "X-Max-Tokens-Capped": answerHeader(
    "`true`: more output tokens were asked for than the model gives; `X-Max-Tokens-Requested`, `X-Max-Tokens-Effective`.",
    false
  ),
  "X-Image-Job": answerHeader("The id of the image's job.", false),
  Location: answerHeader("Where the image's job is.", true),
  "X-RateLimit-Source": answerHeader("The model family whose limit refused the call.", false),
  "X-RateLimit-Limit": answerHeader("How many calls the window allows, for a limit of addresses.", false),
  "X-RateLimit-Remaining": answerHeader("How many are left.", false),
  "X-RateLimit-Reset": answerHeader("When the window ends, in epoch milliseconds.", false)
}

const addressLimit = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const
const receipt = ["PAYMENT-RESPONSE", "X-Payment-Receipt", "X-Payment-Settled", "X-Free-Model"] as const

type HeadersOfStatus = Readonly<Record<number, ReadonlyArray<keyof typeof answerHeaders>>>

const ofEvery: HeadersOfStatus = { 429: ["Retry-After", ...addressLimit], 503: ["Retry-After"] }

/** For calls, in addition to those of every endpoint. */
const ofCalls: HeadersOfStatus = {
  200: receipt,
  202: ["Location", "Retry-After"],
  402: ["PAYMENT-REQUIRED", "WWW-Authenticate", "X-Should-Retry"],
  409: ["X-Should-Retry"],
  412: ["PAYMENT-REQUIRED", "WWW-Authenticate"],
  429: ["X-RateLimit-Source"],
  503: ["X-Should-Retry"]
}

const gatewayParts: ApiParts = {
  envelope: "Error",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: ({ method, identifier }) => {
    if (method !== "POST") return ["X-Request-Id"]
    const isAnthropics = identifier === "createMessage" || identifier === "countTokens"
    return ["PAYMENT-SIGNATURE", ...(isAnthropics ? ["anthropic-beta"] : []), "X-Request-Id"]
  },
  headersWith: (status, endpoint) => {
    const isCount = endpoint?.identifier === "countTokens"
    const isCall = endpoint?.method === "POST"
    const ofAnswer = endpoint?.identifier === "createImage" ? "X-Image-Job" : "X-Max-Tokens-Capped"
    const hasOwn = isCall && !isCount && endpoint.identifier !== "createEmbedding"
    const refusals = endpoint === undefined ? [] : refusalsOf(endpoint)
    const hasCode = refusals.some((refusal) => refusal.status === status && refusal.codes.length > 0)
    return [
      "X-Request-Id",
      ...(hasCode ? ["X-Error-Code"] : []),
      ...(ofEvery[status] ?? []),
      ...(isCall ? (ofCalls[status] ?? []) : []),
      ...(hasOwn && status < 400 ? [ofAnswer] : []),
      ...(isCall && status < 400 ? (["X-Starling-Left-Out"] as const) : []),
      ...(isCount && status < 400 ? (["X-Token-Count"] as const) : [])
    ]
  }
}

const errors =
  'An unknown model is the one error without a code: status 400 and `{"error": "Unknown model: ..."}` with ids that are ' +
  "near. A code also stands in the header `X-Error-Code`, on every route; codes of payments also in the envelopes of " +
  "`/v1/messages` and `/v1/responses`, as `error.code`. Go by the code, not by the message."

const limits = [
  [
    "a body",
    "what fills the largest window sold: 4.4 bytes a token, at least 1 MiB and at most 10 MiB; 10 MiB with images",
    "`BodyBytesMax`, `ImageBodyBytesMax`"
  ],
  [
    "bodies that one process reads or answers at once, beside those of at most 16 KiB",
    "96 MiB; beyond it 503 with `Retry-After`, before a body is read if its length was announced",
    "`BodiesBytesMax`"
  ],
  [
    "its elements and keys, where an array or object counts as eight",
    "349,525, and one more for each 96 bytes beyond 1 MiB",
    "`BodyBytesMax`"
  ],
  ["keys at its top", "256", "-"],
  ["texts that stop an answer", "64", "-"],
  ["searches for tools in a conversation of responses", "128", "-"],
  ["faults that an answer lists", "50", "-"],
  ["the first byte of an answer, or all of one that is not streamed", "120 s", "`FirstByteSeconds`"],
  ["silence within a stream", "120 s", "`StallSeconds`"],
  ["a stream", "500 s", "`StreamSeconds`"],
  [
    "calls to free models from one address",
    "30 a minute and 300 an hour; replicas settle their counts four times a second",
    "`FreeTier`"
  ],
  ["counts of tokens to one address", "120 a minute", "`TokenCountsPerMinute`"],
  ["lists of models to one address", "100 an hour", "`MetadataPerHour`"],
  ["pictures and documents that a conversation names", "16; a picture 8 MiB, a PDF 384 KiB, a text 64 KiB", "-"],
  ["inputs of one call for embeddings", "2,048; all of them within the body", "-"],
  ["the vectors of one answer", "64 MiB", "-"],
  ["an image that a caller waits for", "30 s, then it is a job", "`ImageInlineSeconds`"]
]

const names = (keys: ReadonlySet<string>) => {
  const costly: ReadonlySet<string> = new Set(costlyParameters)
  return [...keys].flatMap((key) => (costly.has(key) ? [] : [`\`${key}\``])).join(", ")
}

const chapters = [
  `## Payments`,
  `A call without a payment is answered with 402 and a quote. What is signed is an entry of \`accepts\`, mostly the first; the same call is then sent again with \`PAYMENT-SIGNATURE\`. A payment is for one call: it is claimed before a model is asked, and settled once the answer is made.`,
  `An entry with the scheme \`exact\` is the price. One with the scheme \`upto\` is the most that the call can cost: what was used is charged, and \`PAYMENT-RESPONSE\` says it as \`amount\` ([payments.md](payments.md#paying-for-what-was-used)). A client takes the entry whose scheme it knows.`,
  `### What a route takes and gives`,
  `The body of a quote says it by x402's extension \`bazaar\`: the shapes of request and answer as JSON Schema, and an example of each; \`GET /.well-known/x402\` says the same of every route. With \`ModelGateway.Bazaar\` at \`header\`, \`PAYMENT-REQUIRED\` has it too, with the required fields alone: x402's clients repeat that with their payments, and a facilitator that keeps a list of services takes it from there. The headers of such a quote have more than 4 kB, and less than 6.`,
  `### What a failure costs`,
  `Nothing is charged for a failure. The payment of a call that ends with 500, 503 or 504 is given back before the answer: the same one can be sent again.`,
  `### A whole answer`,
  `A whole answer goes out paid, with \`PAYMENT-RESPONSE\` and \`X-Payment-Receipt\`. What the chain refuses in the end is 402 \`Payment settlement failed\`, without the answer. When the chain does not say in time, the answer goes out with \`X-Payment-Settled: false\`.`,
  `### A stream`,
  `A stream is paid for after its last chunk, or when its caller leaves after the first; the receipt is a comment \`payment-response\` before the end. One that its provider breaks off is not charged.`,
  `### Many calls at once`,
  `One wallet may pay for many calls at once, streamed or not, as long as it holds enough for all of them that have not ended. A call too many is 429 \`PAYMENT_EXPOSURE_LIMIT\` with \`Retry-After\`: nothing was charged, and the same payment can be sent again. So is one beyond what a payer may have unpaid, which is little at first and grows with what it pays: \`debug\` then says \`payer_has_too_much_unpaid\` or, where new payers have too much unpaid together, \`new_payers_have_too_much_unpaid\` ([payments.md](payments.md#what-a-payer-may-have-unpaid)). A caller that leaves before the first byte is charged nothing, and its call counts as unpaid for a while.`,
  `### How long a payment lasts`,
  `A payment must outlast its answer: 150 s for a whole one, 420 s for a stream, so that one that ended in 504 can be sent again with its payment, once where it was signed for 600 s. A stream that goes on for longer than its payment is settled half a minute before that ends, and charged from then on. On Solana a payment ends with its blockhash, about a minute after it was signed: a whole answer has 30 s, and a stream that goes on longer is settled while it is given out. From then on it is charged, whatever becomes of the rest.`,
  `### A lost answer`,
  `An answer that was lost on the way is given once more to the same payment with the same \`payment-identifier\`; the same identifier with another payment or request is 409. Images are given once more without one, and so is any whole answer whose gateway died before anybody knows that it was given out: the very same request with the same payment fetches it. While the call is still in work, an image answers 202 with its job, and a call with an identifier 503 with \`x-should-retry: false\`: send the same payment again, for a fresh one would be charged too. This also holds when the payment has meanwhile become too old for a new call. Anything else that was used is \`PAYMENT_REPLAY\`.`,
  `### An unpaid answer`,
  `Who leaves an answer unpaid, by cancelling the payment while it is given out say, is sold nothing more: \`PAYMENT_INVALID\` with \`payer_owes_an_uncollected_payment\`.`,
  `## Counts of tokens`,
  `\`POST /v1/messages/count_tokens\` costs nothing, unless the model has a price for it (\`CountMicroUsd\`; \`pricing.count\` in the list of models): then it is quoted and paid as a call is, by any way to pay, and has no limit by address. A model of a provider that speaks Anthropic's API is counted by that provider, exactly. Every other model is counted as its quotes are ([below](#what-a-prompt-costs)). That is an estimate, from which a model's own count may differ either way; a quote rounds it up by a sixteenth at most. It also answers where the provider does not within 10 s, or where a file is only named by its address, for those are fetched for paid calls alone. \`X-Token-Count\` says which it was. A prompt that is longer than the model's window is counted too; what else a call would be refused for before its quote, a count is refused for. A count that is paid for is never an estimate where a provider of the model counts: what that does not answer fails, and is not charged.`,
  `## What a prompt costs`,
  `A quote counts what is written to the model's provider: a token for four bytes of the request, as JSON, in the provider's own shape. Only the data of pictures, documents and sounds are not counted so, where the conversation holds one as a part and the provider reads it there: a picture counts 1,024 tokens, a PDF or a sound a token for 24 bytes, any other file one for four. What looks like a picture elsewhere, as in a tool's schema or its input, is text. With several providers the largest of their requests counts. The same size is held against the model's \`ContextTokens\`.`,
  `A provider is given only keys from a list of its own. A key that is not on it, and asks for something, is left out, and the header \`X-Starling-Left-Out\` of the answer names it; where the answer would be another one without it, as with \`logit_bias\` for a provider of Anthropic's kind, the call is \`INVALID_PARAMETER\` before the quote. To a provider that speaks OpenAI's API go ${names(new Set([...openAiReadKeys, ...chatKeys.openai.sent]))} (with \`Parameters\` at \`common\` only those that every server of it knows), and with \`extended\` also ${names(new Set(["top_k", ...chatKeys.extended.sent].filter((key) => !chatKeys.openai.sent.has(key))))}; to one that speaks Anthropic's ${names(new Set([...anthropicReadKeys, ...messagesKeys.sent]))}; with images ${names(imageKeys.sent)}; with embeddings ${names(embeddingKeys.sent)}; and with each what its model's \`ExtraParameters\` name.`,
  `## Embeddings`,
  `A call has one input or up to 2,048, all of them texts or all lists of token ids. Its quote counts a token for an id or for four bytes of text, and for four bytes of any further parameter, and nothing for the answer. \`exact\` charges that; \`upto\` and a channel charge the tokens that the provider reports, up to what was signed, and what was counted where it reports none. An input that surely has more tokens than the model's \`ContextTokens\` is \`CONTEXT_LENGTH_EXCEEDED\` before the quote; what else is too long is refused by the provider, and costs nothing. Vectors come in the \`encoding_format\` of the request, also from a provider that knows only lists of numbers. Answers of more than 64 MiB are refused and not charged, which 2,048 long vectors as lists of numbers may be: ask for \`base64\`, as OpenAI's own library does, or send fewer.`,
  `## What is not sold`,
  `A quote knows tokens, pictures and documents. What a provider charges for beside them is refused with \`INVALID_PARAMETER\` before the quote, unless the model's \`ExtraParameters\` name it: ${costlyParameters.map((name) => `\`${name}\``).join(", ")}, and tools that the provider runs itself (\`tools.web_search\` and the like; functions and tools that the caller runs always pass, and beside them a tool that is not sold is left out rather than refused, unless \`tool_choice\` names it, since agents declare such tools whether they need them or not). Values that ask for nothing more than usual, such as \`service_tier: "auto"\` or \`modalities: ["text"]\`, are left out. A prompt that by the quote's own guess fills the model's \`ContextTokens\` is \`CONTEXT_LENGTH_EXCEEDED\`, also before the quote.`,
  `## Pictures and documents`,
  `Wherever a conversation holds one (\`image_url\`, \`input_image\`, \`image\` and \`document\` sources, \`file\`, \`input_file\`, results of tools), its address is plain \`http://\` or \`https://\`, or the data themselves: \`data:<media type>;base64,...\`. Everything else, ids of files included, is \`INVALID_IMAGE_URL\` before a payment is taken. What is named by http(s) is fetched here once the call is paid for, never from a private address but those of \`ImageAllowCidrs\`, and goes on as data: no provider is given an address. A document that is named counts as 16,384 tokens, whatever is in it; a larger one is sent in the request. Requests for images hold their pictures as data.`,
  `## Limits`,
  table(["of", "limit", "key of ModelGateway"], limits)
]
