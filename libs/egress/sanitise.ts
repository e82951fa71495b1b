/**
 * Makes the text of a called service (a provider, a facilitator) safe for outsiders: no credentials, URLs, hosts or
 * addresses, and no hint at who serves and by which route. It removes too much rather than too little. Linear in the
 * text, which is cut first. Pure.
 */

export interface SanitiseOptions {
  /** Keys and other texts that must never leave, compared literally. */
  readonly secrets: ReadonlyArray<string>
  /** Names of providers, of their hosts and of their models. */
  readonly names: ReadonlyArray<string>
}

const charactersReadMax = 4_096
const charactersMax = 600
const removed = "[removed]"

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&")

const topLevels =
  "com|net|org|io|ai|dev|app|cloud|co|us|eu|uk|de|fr|cn|jp|in|sg|ch|nl|xyz|tech|run|sh|me|info|gov|edu|biz|site|online|" +
  "internal|local|localdomain|lan|corp|consul|svc|cluster|intranet|home|arpa|example|test"

// Companies that serve models, and software in front of them.
const wellKnown =
  "open-?ai|anthropic|azure|bedrock|amazon|aws|vertex|google|gemini api|openrouter|together(?:\\.?ai|computer)?|fireworks|groq|" +
  "deepinfra|mistral|cohere|replicate|hugging ?face|siliconflow|novita|hyperbolic|sambanova|cerebras|perplexity|xai|" +
  "litellm|portkey|helicone|vllm|sglang|triton|ollama|nginx|envoy|istio|haproxy|traefik|cloudflare|cloudfront|akamai|kubernetes|uvicorn"

// Regions of clouds: us-east-1, europe-west4-b, swedencentral, eastus2.
const directions = "north|south|east|west|central"
const region =
  `(?:[a-z]{2}(?:-(?:gov|iso[a-z]?))?|us|europe|asia|australia|africa|northamerica|southamerica)-(?:${directions}){1,2}-?\\d{1,2}(?:-?[a-f])?` +
  `|(?:${directions}){1,2}(?:us|europe|asia|india)(?:\\d|stage|euap)?` +
  `|(?:us|uk|uae|asia|australia|brazil|canada|france|germany|india|israel|italy|japan|korea|mexico|norway|poland|qatar|southafrica|spain|sweden|switzerland|taiwan)(?:${directions}){1,2}\\d?`

// What providers call their own or our account, before the name itself.
const owned =
  "deployment|resource(?: ?group)?|project|account|subscription|tenant|organi[sz]ation|workspace|region|cluster|endpoint|profile"
const title = "(?:[ _-]?(?:name|id|number|named|called))?"

const rules: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]+/giu, "[url]"],
  [/\barn:[\w+=,.@:/*-]+/giu, "[resource]"],
  [
    /(?:\/|\b)(?:subscriptions|resourceGroups|projects|organizations|folders|accounts|tenants|providers|endpoints|deployments|publishers|workspaces|(?:application-)?inference-profile|provisioned-model|foundation-model|custom-model)\/[\w.@:%/-]+/giu,
    "[resource]"
  ],
  [new RegExp(`\\b(${owned})(${title})\\s{1,3}["'\`][^"'\`\\s]+["'\`]`, "giu"), `$1$2 ${removed}`],
  [new RegExp(`\\b(${owned})(${title})\\s{0,3}[:=]\\s{0,3}["'\`]?[\\w.-]+["'\`]?`, "giu"), `$1$2: ${removed}`],
  [new RegExp(`\\b(${owned})(${title})\\s{1,3}(?=[a-z._]*[\\d-])[\\w.-]{2,}`, "giu"), `$1$2 ${removed}`],
  [
    /(?<![\w.:-])(request|trace|correlation|operation|activity)[-_ ]?id["']?\s{0,3}(?:is|[:=])?\s{0,3}["']?(?=[a-z.:_-]*\d)[\w.:-]{4,}/giu,
    `$1 id: ${removed}`
  ],
  [new RegExp(`(?<![\\w.-])(?:${region})(?![\\w-])`, "giu"), "[region]"],
  // Accounts of AWS and projects of Google have twelve digits.
  [/(?<![\w.])\d{12}(?![\w.])/gu, removed],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*/gu, "[address]"],
  [/\b(bearer|basic)\s+[^\s"',;]+/giu, `$1 ${removed}`],
  [
    /\b((?:x-)?api[-_ ]?key|authorization|access[-_ ]?token|secret|password|passwd|credential)["']?\s*[:=]\s*["']?[^\s"',;]+/giu,
    `$1: ${removed}`
  ],
  [/\b(?:sk|pk|rk|xai|gsk|ghp|gho|hf|or|pat|key|tok|whsec|eyJ|AIza|AKIA|ASIA|ya29)[-_.][^\s"',;]{3,}/gu, removed],
  [/\b(?:eyJ|AIza|AKIA|ASIA|ya29)[^\s"',;]{6,}/gu, removed],
  [/\b(?:org|proj|req|acct|user|rsrc|deployment|resource|ray)[-_][A-Za-z0-9-]{4,}/gu, removed],
  [
    /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4})(?:%\w{1,16})?(?![\w:])/giu,
    "[address]"
  ],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2}|:\d{1,5})?(?![\w])/gu, "[address]"],
  [
    new RegExp(
      `(?<![\\w.-])(?:[a-z0-9](?:[a-z0-9_-]{0,62})\\.){1,8}(?:${topLevels})\\.?(?::\\d{1,5})?(?![\\w-])`,
      "giu"
    ),
    "[host]"
  ],
  [/(?<![\w.-])(?:localhost|(?!eip155:)[a-z][a-z0-9.-]{0,62}:\d{2,5})(?![\w])/giu, "[host]"],
  [new RegExp(`(?<![a-z0-9])(?:${wellKnown})(?![a-z0-9])`, "giu"), "the provider"]
]

// A text that looks like a key: long, of letters and digits.
const longRun = /[A-Za-z0-9_+/=-]{24,}/gu
const keyLike = (run: string) => (/\d/u.test(run) && /[A-Za-z]/u.test(run) ? removed : run)

/** Undefined when nothing is left. */
export const sanitise = (text: string, { secrets, names }: SanitiseOptions): string | undefined => {
  let result = text.slice(0, charactersReadMax)
  for (const secret of secrets) if (secret.length >= 4) result = result.replaceAll(secret, removed)
  for (const [pattern, instead] of rules.slice(0, 1)) result = result.replace(pattern, instead)
  for (const name of names.toSorted((left, right) => right.length - left.length)) {
    if (name.length >= 2)
      result = result.replace(new RegExp(`(?<![A-Za-z0-9])${escaped(name)}(?![A-Za-z0-9])`, "giu"), "the provider")
  }
  for (const [pattern, instead] of rules.slice(1)) result = result.replace(pattern, instead)
  result = result
    .replace(longRun, keyLike)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, charactersMax)
  return result === "" ? undefined : result
}
