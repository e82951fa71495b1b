/**
 * Where a picture or document of a conversation is: at a plain http(s) address, or in the request itself. Parsed once;
 * what goes on is written anew from what was parsed, so that nobody behind us reads another address out of it. Pure.
 */
import { Result } from "effect"

export type FileAddress =
  | { readonly _tag: "Web"; readonly url: string }
  | { readonly _tag: "Data"; readonly mediaType: string; readonly base64: string }

const webCharactersMax = 8_192
// A parser takes a backslash for a slash and skips spaces and line feeds: those are read differently by different readers.
const plainWeb = /^https?:\/\/[^\s\\\p{Cc}]+$/iu
const dataHead = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100})(?:;[a-z0-9_.=+-]{1,100}){0,8};base64,/iu
const base64Text = /^[A-Za-z0-9+/_-]+={0,2}$/u

/** Fails with what is wrong, in words that follow the name of a field. */
export const parseFileAddress = (text: string): Result.Result<FileAddress, string> => {
  if (/^data:/iu.test(text)) return parseData(text)
  if (!plainWeb.test(text)) return Result.fail("must begin with http://, https:// or data:, and hold no spaces")
  if (text.length > webCharactersMax) return Result.fail(`must not be longer than ${webCharactersMax} characters`)
  const url = Result.getOrUndefined(Result.try(() => new URL(text)))
  if (url === undefined) return Result.fail("is no URL")
  if (url.username !== "" || url.password !== "") return Result.fail("must not hold a user name or password")
  url.hash = ""
  return Result.succeed({ _tag: "Web", url: url.href })
}

const parseData = (text: string): Result.Result<FileAddress, string> => {
  // Only the head is looked for: the rest is megabytes.
  const head = dataHead.exec(text.slice(0, 1_024))
  if (head === null) return Result.fail("must be data:<media type>;base64,<data>")
  return Result.map(parseBase64(text.slice(head[0].length)), (base64) => ({
    _tag: "Data",
    mediaType: (head[1] ?? "").toLowerCase(),
    base64
  }))
}

/** Without the line ends that some encoders put in. */
export const parseBase64 = (text: string): Result.Result<string, string> => {
  if (base64Text.test(text)) return Result.succeed(text)
  const bare = text.replace(/\s+/gu, "")
  return base64Text.test(bare) ? Result.succeed(bare) : Result.fail("must hold data in base64")
}

export const dataUrl = ({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }): string =>
  `data:${mediaType};base64,${base64}`

export const addressText = (address: FileAddress): string => (address._tag === "Web" ? address.url : dataUrl(address))
