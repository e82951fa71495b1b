/**
 * Checks that the nodes belong to the configured chain, and that the token there is the one that payers sign for. With
 * a wrong token name every payment would be refused for its signature; with wrong decimals every price would be wrong.
 */
import { Effect } from "effect"
import { decodeAbiParameters, parseAbiParameters } from "viem/utils"
import { ChainMismatch, type ChainUnavailable } from "../../errors.ts"
import type { TokenTerms } from "../../scheme.ts"
import type { EvmNode } from "./EvmNode.ts"
import { bytesOf, type Hex, hexOf, isSameAddress, numberInWord, readIn, textIn } from "./encoding.ts"
import { tokenQuestions } from "./token.ts"
import { domainSeparator, type TokenDomain } from "./signature.ts"

export const probe = Effect.fn("evm.probe")(function* (
  node: EvmNode,
  domain: TokenDomain,
  decimals: number
): Effect.fn.Return<void, ChainMismatch | ChainUnavailable> {
  const chainId = yield* node.chainId
  if (chainId !== domain.chainId) {
    return yield* new ChainMismatch({ detail: `the chain's id is ${chainId} instead of ${domain.chainId}` })
  }
  const ask = (question: string) => answerOf(node, domain.asset, question)
  const answers = yield* Effect.all(
    {
      separator: ask(tokenQuestions.separator),
      name: ask(tokenQuestions.name),
      version: ask(tokenQuestions.version),
      decimals: ask(tokenQuestions.decimals)
    },
    { concurrency: "unbounded" }
  )
  // A token without a domain separator may return the domain's parts (EIP-5267).
  const parts = isWord(answers.separator) ? nothing : yield* ask(tokenQuestions.domain)
  const detail = mismatchOf({ ...domain, decimals }, { ...answers, parts })
  if (detail !== undefined) return yield* new ChainMismatch({ detail })
})

/** A contract reverts on an unknown function, or returns nothing. */
const nothing = "0x"

const answerOf = (node: EvmNode, asset: string, question: string) =>
  node.call(asset, bytesOf(question)).pipe(Effect.catchTag("Reverted", () => Effect.succeed(nothing)))

const isWord = (answer: string) => answer.length === 66

/** The token's raw answers. */
export interface TokenAnswers {
  readonly separator: string
  readonly name: string
  readonly version: string
  readonly decimals: string
  /** The domain's parts, if the token returns them. */
  readonly parts: string
}

/**
 * The difference in words; undefined if there is none. The signing domain decides, because a name alone may be only for
 * display. Pure.
 */
export const mismatchOf = (configured: TokenDomain & TokenTerms, answers: TokenAnswers): string | undefined => {
  const given = {
    name: shortened(textIn(answers.name)),
    version: shortened(textIn(answers.version)),
    decimals: isWord(answers.decimals) ? numberInWord(answers.decimals) : undefined
  }
  const isSame = isSameDomain(configured, answers, given)
  if (isSame === undefined) return `${configured.asset} is no token whose transfers are signed (EIP-3009)`
  const hasDecimals = given.decimals === undefined || given.decimals === BigInt(configured.decimals)
  if (isSame && hasDecimals) return undefined
  const { asset, name, version, decimals } = configured
  const actual = described(given)
  const more =
    isSame || actual !== described({ name, version, decimals: BigInt(decimals) })
      ? ""
      : "; its signing domain is another"
  return `the token ${asset} is configured as ${described({ name, version, decimals: BigInt(decimals) })}, and says ${actual}${more}`
}

interface TokenFacts {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly decimals: bigint | undefined
}

/** Undefined if the token returns neither form. */
const isSameDomain = (
  configured: TokenDomain,
  answers: TokenAnswers,
  { name, version }: TokenFacts
): boolean | undefined => {
  if (isWord(answers.separator)) return answers.separator.toLowerCase() === hexOf(domainSeparator(configured))
  const parts = domainParts(answers.parts)
  if (parts !== undefined) {
    return (
      parts.hasUsualFields &&
      parts.name === configured.name &&
      parts.version === configured.version &&
      parts.chainId === configured.chainId &&
      isSameAddress(parts.asset, configured.asset)
    )
  }
  if (name === undefined) return undefined
  return name === configured.name && (version === undefined || version === configured.version)
}

// A token's name is a word or two; a longer one is cut, because it ends up in a log.
const textBytesMax = 64
const shortened = (text: string | undefined) =>
  text === undefined ? undefined : Buffer.from(text).toString("utf8", 0, textBytesMax)

// Name, version, chain and contract; no salt.
const usualFields = "0x0f"

// From `eip712Domain()`; salt and extensions follow.
const parts = parseAbiParameters("bytes1, string, string, uint256, address")

const domainParts = (answer: string) => {
  const found = readIn(() => decodeAbiParameters(parts, answer as Hex))
  if (found === undefined) return undefined
  const [fields, name, version, chainId, asset] = found
  return { hasUsualFields: fields === usualFields, name, version, chainId, asset }
}

const described = ({ name, version, decimals }: TokenFacts) =>
  [
    name === undefined ? "no name" : `name ${JSON.stringify(name)}`,
    version === undefined ? "no version" : `version ${JSON.stringify(version)}`,
    decimals === undefined ? "no decimals" : `${decimals} decimals`
  ].join(", ")
